// SPDX-License-Identifier: Apache-2.0
// Recordings with mistakes: one sentence with the file and the line.
#include <gtest/gtest.h>

#include <cmath>

#include "analysis/recording/recording.h"

namespace gable::tests {
namespace {

const std::string kFirstLine = R"({"gable_recording": 1, "origin": "hand-written"})"
                               "\n";
const std::string kKernel = R"({"kernel": "k"})"
                            "\n";

std::string error_of(const std::string& text) {
  const RecordingResult result = parse_recording(text, "r.jsonl");
  EXPECT_EQ(result.recording, nullptr) << text;
  return result.error;
}

TEST(RecordingReader, TakesALittleRecording) {
  const RecordingResult result =
      parse_recording("# a remark\n\n" + kFirstLine +
                          R"({"kernel": "k", "name": "_Z1kv", "grid": [2, 3, 4], "time_ns": 50,)" +
                          R"( "counters": {"a.sum": 7, "b.sum": null}})" + "\n" +
                          R"({"sequence": "s"})"
                          "\n"
                          R"({"op": "launch", "kernel": "k", "thread": 1})"
                          "\n" +
                          R"({"end_sequence": "s"})"
                          "\n"
                          R"({"op": "play", "sequence": "s", "times": 3})"
                          "\n",
                      "r.jsonl");
  ASSERT_NE(result.recording, nullptr) << result.error;
  const Recording& recording = *result.recording;
  ASSERT_EQ(recording.kernels.size(), 1u);
  EXPECT_EQ(recording.kernels[0].name, "_Z1kv");
  EXPECT_EQ(recording.kernels[0].grid, (Dim3{2, 3, 4}));
  EXPECT_EQ(recording.kernels[0].time_ns, 50u);
  EXPECT_EQ(recording.kernels[0].counters.at("a.sum"), 7);
  EXPECT_TRUE(std::isnan(recording.kernels[0].counters.at("b.sum")));
  ASSERT_EQ(recording.sequences.size(), 1u);
  EXPECT_EQ(recording.sequences[0].ops.size(), 1u);
  EXPECT_EQ(recording.ops.size(), 1u);
  ASSERT_EQ(recording.devices.size(), 1u);  // without one there is the default
  EXPECT_EQ(recording.devices[0].chip, "GH100");
}

TEST(RecordingReader, EventsHaveNumbersAndStreams) {
  const RecordingResult result =
      parse_recording(kFirstLine + R"({"op": "event_record", "event": 3, "stream": 5})"
                                   "\n"
                                   R"({"op": "stream_wait", "event": 3})"
                                   "\n"
                                   R"({"op": "sync", "event": 3})"
                                   "\n"
                                   R"({"op": "sync"})"
                                   "\n",
                      "r.jsonl");
  ASSERT_NE(result.recording, nullptr) << result.error;
  const auto& ops = result.recording->ops;
  ASSERT_EQ(ops.size(), 4u);
  EXPECT_EQ(ops[0].kind, OpKind::event_record);
  EXPECT_EQ(ops[0].id, 3);
  EXPECT_EQ(ops[0].stream, 5u);
  EXPECT_EQ(ops[1].kind, OpKind::stream_wait);
  EXPECT_EQ(ops[2].id, 3);
  EXPECT_FALSE(ops[2].whole_context);
  EXPECT_TRUE(ops[3].whole_context);
  EXPECT_NE(error_of(kFirstLine + R"({"op": "event_record"})"
                                  "\n"),
            "");
}

TEST(RecordingReader, WhatIsNoRecording) {
  EXPECT_EQ(error_of(""), "r.jsonl: it is not a recording: the header line is missing.");
  EXPECT_EQ(error_of("hello\n"), "r.jsonl:1: this line is not one JSON object.");
  EXPECT_EQ(error_of("[]\n"), "r.jsonl:1: this line is not one JSON object.");
  EXPECT_EQ(error_of(kKernel).rfind(
                "r.jsonl:1: it is not a recording: the first line must be the header", 0),
            0u);
  EXPECT_EQ(error_of(R"({"gable_recording": 9, "origin": "generated"})"),
            "r.jsonl:1: this recording has format 9, this Gable reads up to 1.");
  EXPECT_EQ(
      error_of(R"({"gable_recording": 1, "origin": "dreamt"})"),
      "r.jsonl:1: \"origin\" must be recorded, playback, converted, generated or hand-written.");
}

TEST(RecordingReader, MistakesAreNamedWithTheirLine) {
  const std::pair<std::string, std::string> cases[] = {
      {R"({"kernel": "k")", "this line is not one JSON object"},
      {R"({"kernel": 5})", "\"kernel\" must be text"},
      {R"({"kernel": "k", "grid": [1, 2]})", "\"grid\" must be three whole numbers"},
      {R"({"kernel": "k", "grid": [1, 2, 0]})",
       "\"grid\" must be a whole number from 1 to 2147483647"},
      {R"({"kernel": "k", "time_ns": -1})",
       "\"time_ns\" must be a whole number from 0 to 18446744073709551615"},
      {R"({"kernel": "k", "time_ns": 1.5})",
       "\"time_ns\" must be a whole number from 0 to 18446744073709551615"},
      {R"({"kernel": "k", "counters": {"a": "x"}})", "the counter \"a\" must be a number or null"},
      {R"({"kernel": "k", "unknown": "a"})", "\"unknown\" must be a list of texts"},
      {R"({"kernel": "k", "gird": [1, 1, 1]})",
       "there is no field \"gird\" in a line of this kind"},
      {R"({"device": 64})", "\"device\" must be a whole number from 0 to 63"},
      {R"({"end_sequence": "s"})", "no sequence \"s\" is open"},
      {R"({"fault": "flood"})", "there is no fault \"flood\""},
      {R"({"fault": "call", "code": 1})", "the field \"call\" is missing"},
      {R"({"fault": "unsupported"})", "the field \"why\" is missing"},
      {R"({"fault": "unsupported", "why": "age"})", "there is no reason \"age\""},
      {R"({"switch": "a"})", "the field \"value\" is missing"},
      {R"({"colour": "red"})",
       "a line needs one of \"op\", \"kernel\", \"device\", \"sequence\", \"end_sequence\", "
       "\"fault\", \"switch\""},
  };
  for (const auto& [line, sentence] : cases)
    EXPECT_EQ(error_of(kFirstLine + line + "\n"), "r.jsonl:2: " + sentence + ".") << line;
}

TEST(RecordingReader, WhatAnOperationNamesMustStandBeforeIt) {
  for (const char* line :
       {R"({"op": "launch", "kernel": "no"})", R"({"op": "play", "sequence": "no"})",
        R"({"op": "dance"})", R"({"op": "launch"})", R"({"op": "exit", "how": "slowly"})"}) {
    const std::string error = error_of(kFirstLine + kKernel + line + "\n");
    EXPECT_EQ(error.rfind("r.jsonl:3: ", 0), 0u) << error;
    EXPECT_TRUE(error.ends_with(".")) << error;
  }
  EXPECT_EQ(error_of(kFirstLine + kKernel + kKernel),
            "r.jsonl:3: the kernel \"k\" is defined twice.");
}

TEST(RecordingReader, SequencesNeitherNestNorStayOpen) {
  const std::string begin = R"({"sequence": "s"})"
                            "\n";
  EXPECT_EQ(error_of(kFirstLine + begin), "r.jsonl: the sequence \"s\" has no end_sequence.");
  EXPECT_EQ(error_of(kFirstLine + begin +
                     R"({"sequence": "t"})"
                     "\n"),
            "r.jsonl:3: a sequence cannot begin inside another.");
  const std::string self = error_of(kFirstLine + begin +
                                    R"({"op": "play", "sequence": "s"})"
                                    "\n");
  EXPECT_EQ(self.rfind("r.jsonl:3: ", 0), 0u) << self;
}

TEST(RecordingReader, DevicesAreCountedFromZero) {
  EXPECT_EQ(error_of(kFirstLine + R"({"device": 1})"
                                  "\n"),
            "r.jsonl: device 0 is not defined, but a later one is.");
  EXPECT_EQ(error_of(kFirstLine + R"({"device": 0})"
                                  "\n"
                                  R"({"device": 0})"
                                  "\n"),
            "r.jsonl:3: device 0 is defined twice.");
}

TEST(RecordingReader, FaultsAlone) {
  std::vector<RecordedFault> faults;
  std::map<std::string, std::string> switches;
  EXPECT_EQ(parse_faults(R"({"fault": "no_permission"})"
                         "\n"
                         R"({"switch": "a", "value": "b"})",
                         "f", faults, switches),
            "");
  EXPECT_EQ(faults.size(), 1u);
  EXPECT_EQ(switches.at("a"), "b");
  EXPECT_EQ(parse_faults(R"({"op": "sync"})", "f", faults, switches),
            "f:1: only \"fault\" and \"switch\" lines can stand here.");
}

TEST(RecordingReader, AFileThatIsNotThere) {
  const RecordingResult result = read_recording("/nowhere/r.jsonl");
  EXPECT_EQ(result.recording, nullptr);
  EXPECT_EQ(result.error, "/nowhere/r.jsonl: No such file or directory.");
}

}  // namespace
}  // namespace gable::tests

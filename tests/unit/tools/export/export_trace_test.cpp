// SPDX-License-Identifier: Apache-2.0
#include "tools/export/export_trace.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace gable::tests {
namespace {

using Json = nlohmann::json;
using Kind = TimelineEvent::Kind;

TimelineEvent event(Kind kind, const std::string& name, std::uint64_t start_ns,
                    std::uint64_t end_ns, std::uint64_t link = 0) {
  TimelineEvent made;
  made.kind = kind;
  made.name = name;
  made.start_ns = start_ns;
  made.end_ns = end_ns;
  made.link = link;
  return made;
}

Json trace_of(const std::vector<TimelineEvent>& events) {
  return Json::parse(export_trace({}, {events, 0, false}));
}

// Without those that name processes and threads.
Json events_of(const std::vector<TimelineEvent>& events) {
  Json found = Json::array();
  const Json trace = trace_of(events);
  for (const Json& each : trace["traceEvents"])
    if (each["ph"] != "M") found.push_back(each);
  return found;
}

TEST(ExportTrace, RangesAreSlicesOfTheHost) {
  TimelineEvent range = event(Kind::range, "conv", 1500, 4001);
  range.thread = 3;
  TimelineEvent backward = event(Kind::range, "_Z4convv", 2000, 2000);
  backward.direction = Direction::backward;
  EXPECT_EQ(events_of({range, backward}), Json::parse(R"([
    {"ph": "X", "pid": 1, "tid": 3, "cat": "layer", "name": "conv", "ts": 1.5, "dur": 2.501},
    {"ph": "X", "pid": 1, "tid": 0, "cat": "layer", "name": "_Z4convv", "ts": 2.0, "dur": 0.0,
     "args": {"direction": "backward"}}])"));
}

TEST(ExportTrace, RangesAcrossThreadsHaveTwoEnds) {
  TimelineEvent first = event(Kind::range, "one", 1000, 2000);
  first.across_threads = true;
  first.thread = 2;
  TimelineEvent second = first;
  second.name = "two";
  EXPECT_EQ(events_of({first, second}), Json::parse(R"([
    {"ph": "b", "pid": 1, "tid": 2, "cat": "range", "name": "one", "id": "1", "ts": 1.0},
    {"ph": "e", "pid": 1, "tid": 2, "cat": "range", "name": "one", "id": "1", "ts": 2.0},
    {"ph": "b", "pid": 1, "tid": 2, "cat": "range", "name": "two", "id": "2", "ts": 1.0},
    {"ph": "e", "pid": 1, "tid": 2, "cat": "range", "name": "two", "id": "2", "ts": 2.0}])"));
}

TEST(ExportTrace, AnArrowLeadsFromACallToItsFirstWork) {
  TimelineEvent call = event(Kind::call, "launch", 1000, 3000, 7);
  call.thread = 4;
  TimelineEvent kernel = event(Kind::kernel, "_Z4convv", 3000, 8000, 7);
  kernel.stream = 5;
  kernel.context = 1;
  kernel.layer = "net/conv";
  TimelineEvent next = kernel;
  next.start_ns = 8000;
  next.end_ns = 9000;
  TimelineEvent copy = event(Kind::copy, "copy host to device", 100, 200, 8);
  copy.bytes = 4096;
  EXPECT_EQ(events_of({call, kernel, next, event(Kind::call, "synchronize", 3000, 4000), copy}),
            Json::parse(R"json([
    {"ph": "X", "pid": 1, "tid": 4, "cat": "call", "name": "launch", "ts": 1.0, "dur": 2.0},
    {"ph": "s", "pid": 1, "tid": 4, "cat": "launch", "name": "launch", "id": 7, "ts": 1.0},
    {"ph": "X", "pid": 3, "tid": 5, "cat": "kernel", "name": "conv()", "ts": 3.0, "dur": 5.0,
     "args": {"layer": "net/conv"}},
    {"ph": "f", "pid": 3, "tid": 5, "cat": "launch", "name": "launch", "id": 7, "ts": 3.0,
     "bp": "e"},
    {"ph": "X", "pid": 3, "tid": 5, "cat": "kernel", "name": "conv()", "ts": 8.0, "dur": 1.0,
     "args": {"layer": "net/conv"}},
    {"ph": "X", "pid": 1, "tid": 0, "cat": "call", "name": "synchronize", "ts": 3.0, "dur": 1.0},
    {"ph": "X", "pid": 2, "tid": 0, "cat": "copy", "name": "copy host to device", "ts": 0.1,
     "dur": 0.1, "args": {"layer": "(no layer)", "bytes": 4096}},
    {"ph": "f", "pid": 2, "tid": 0, "cat": "launch", "name": "launch", "id": 8, "ts": 0.1,
     "bp": "e"}])json"));
}

TEST(ExportTrace, ProcessesAndThreadsHaveNames) {
  TimelineEvent range = event(Kind::range, "net", 0, 1), call = event(Kind::call, "launch", 0, 1);
  range.thread = 6;
  call.thread = 2;
  TimelineEvent across = range;
  across.across_threads = true;
  across.thread = 9;
  TimelineEvent kernel = event(Kind::kernel, "k", 0, 1), copy = event(Kind::copy, "c", 0, 1);
  kernel.stream = 3;
  copy.context = 1;
  copy.stream = 4;
  Json found = Json::array();
  const Json trace = trace_of({range, call, across, kernel, copy, kernel});
  for (const Json& each : trace["traceEvents"])
    if (each["ph"] == "M")
      found.push_back({each["name"], each["pid"], each["tid"], each["args"]["name"]});
  EXPECT_EQ(found, Json::parse(R"([
    ["process_name", 1, 0, "host [playback]"], ["thread_name", 1, 2, "thread 2"],
    ["thread_name", 1, 6, "thread 6"], ["thread_name", 1, 9, "thread 9"],
    ["process_name", 2, 0, "GPU [playback]"], ["thread_name", 2, 3, "stream 3"],
    ["process_name", 3, 0, "GPU [playback], context 1"], ["thread_name", 3, 4, "stream 4"]])"));
}

TEST(ExportTrace, SaysWhatItIsOf) {
  Recording recording;
  recording.origin = "hand-written";
  recording.note = "a \xFF note";
  const std::string text = export_trace(recording, {{}, 0, true});
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  const Json trace = Json::parse(text);
  EXPECT_EQ(trace["displayTimeUnit"], "ns");
  EXPECT_EQ(trace["otherData"], Json::parse(R"({"source": "playback", "origin": "hand-written",
                                               "note": "a \uFFFD note", "complete": "no"})"));
  EXPECT_EQ(trace_of({})["otherData"]["complete"], "yes");
}

}  // namespace
}  // namespace gable::tests

// SPDX-License-Identifier: Apache-2.0
// Operations of recordings: each field of each kind, what it is where nothing is said, and what it
// may not be.
#include <gtest/gtest.h>

#include "analysis/recording/recording.h"
#include "tests/unit/analysis/unsaid.h"

namespace gable::tests {
namespace {

const std::string kBegin = R"({"gable_recording": 1, "origin": "hand-written"})"
                           "\n"
                           R"({"kernel": "k"})"
                           "\n"
                           R"({"kernel": "l"})"
                           "\n"
                           R"({"sequence": "s"})"
                           "\n"
                           R"({"end_sequence": "s"})"
                           "\n"
                           R"({"sequence": "t"})"
                           "\n"
                           R"({"end_sequence": "t"})"
                           "\n";

RecordedOp op(const std::string& fields) {
  const auto read = parse_recording(kBegin + "{\"op\": " + fields + "}", "r");
  if (!read.recording || read.recording->ops.size() != 1) {
    ADD_FAILURE() << fields << ": " << read.error;
    return {};
  }
  EXPECT_EQ(read.recording->ops[0].line, 8u);
  return read.recording->ops[0];
}

std::string error(const std::string& fields) {
  const auto read = parse_recording(kBegin + "{\"op\": " + fields + "}", "r");
  EXPECT_EQ(read.recording, nullptr) << fields;
  return read.error;
}

TEST(RecordedOps, EachHasItsName) {
  for (const auto& [fields, kind] :
       {std::pair(R"("push", "name": "a")", OpKind::push),
        {R"("pop")", OpKind::pop},
        {R"("start", "name": "a", "id": 1)", OpKind::start},
        {R"("end", "id": 1)", OpKind::end},
        {R"("launch", "kernel": "k")", OpKind::launch},
        {R"("graph_launch", "graph": 1)", OpKind::graph_launch},
        {R"("copy", "kind": "h2d", "bytes": 1)", OpKind::copy},
        {R"("sync")", OpKind::sync},
        {R"("event_record", "event": 1)", OpKind::event_record},
        {R"("stream_wait", "event": 1)", OpKind::stream_wait},
        {R"("idle", "ns": 1)", OpKind::idle},
        {R"("sleep", "ms": 1)", OpKind::sleep},
        {R"("gable_step")", OpKind::gable_step},
        {R"("profiler_start")", OpKind::profiler_start},
        {R"("profiler_stop")", OpKind::profiler_stop},
        {R"("load_module")", OpKind::load_module},
        {R"("context", "context": 1)", OpKind::context},
        {R"("destroy_context", "context": 1)", OpKind::destroy_context},
        {R"("capture_begin")", OpKind::capture_begin},
        {R"("capture_end")", OpKind::capture_end},
        {R"("graph_destroy", "graph": 1)", OpKind::graph_destroy},
        {R"("play", "sequence": "s")", OpKind::play},
        {R"("print", "text": "a")", OpKind::print},
        {R"("exit")", OpKind::exit}}) {
    const RecordedOp read = op(fields);
    EXPECT_EQ(read.kind, kind) << fields;
    EXPECT_EQ("\"" + std::string(to_string(kind)) + "\"",
              std::string(fields).substr(0, to_string(kind).size() + 2));
  }
  EXPECT_EQ(to_string(OpKind::fault), "fault");
  EXPECT_EQ(to_string(OpKind::set_switch), "switch");
  EXPECT_NE(error(R"("fault")"), "");
  EXPECT_NE(error(R"("switch")"), "");
}

TEST(RecordedOps, WhatIsNotSaid) {
  const RecordedOp none;
  expect_zeros(none.thread, none.line, none.stream, none.context, none.device, none.id, none.kernel,
               none.index, none.amount, none.code);
  EXPECT_EQ(none.host_ns, 2000u);
  EXPECT_EQ(none.scale, 1);
  EXPECT_FALSE(none.per_thread || none.whole_context || none.update || none.has_domain);
  const RecordedOp launch = op(R"("launch", "kernel": "k")");
  expect_zeros(launch.thread, launch.stream, launch.context, launch.kernel);
  EXPECT_EQ(launch.host_ns, 2000u);
  EXPECT_EQ(launch.scale, 1);
  EXPECT_EQ(launch.api, LaunchApi::kernel);
  EXPECT_EQ(launch.time_ns, std::nullopt);
  EXPECT_EQ(launch.counters, nullptr);
  const RecordedOp copy = op(R"("copy", "kind": "memset", "bytes": 7)");
  EXPECT_EQ(copy.time_ns, 1000u);
  EXPECT_EQ(copy.host, HostMemory::pinned);
  EXPECT_EQ(op(R"("play", "sequence": "s")").amount, 1u);
  EXPECT_EQ(op(R"("exit")").name, "return");
  EXPECT_EQ(op(R"("exit")").code, 0);
  const RecordedFault fault;
  expect_zeros(fault.after, fault.count);
  EXPECT_EQ(fault.code, 999);
  EXPECT_EQ(fault.times, -1);
  const RecordedKernel kernel;
  expect_zeros(kernel.dynamic_shared, kernel.registers, kernel.static_shared);
  EXPECT_EQ(kernel.time_ns, 1000u);
  EXPECT_EQ(Recording().initial_faults, 0u);
  EXPECT_EQ(kRecordingVersion, 1);
}

TEST(RecordedOps, ALaunch) {
  const RecordedOp launch =
      op(R"("launch", "kernel": "l", "thread": 1023, "stream": 100000, "context": 4, )"
         R"("scale": 0.5, "time_ns": 70, "host_ns": 0, "api": "cuLaunchKernelEx_ptsz", )"
         R"("counters": {"a.sum": 3})");
  EXPECT_EQ(launch.kernel, 1u);
  EXPECT_EQ(launch.thread, 1023);
  EXPECT_EQ(launch.stream, 100000u);
  EXPECT_EQ(launch.context, 4u);
  EXPECT_EQ(launch.scale, 0.5);
  EXPECT_EQ(launch.time_ns, 70u);
  EXPECT_EQ(launch.host_ns, 0u);
  EXPECT_EQ(launch.api, LaunchApi::kernel_ex);
  EXPECT_TRUE(launch.per_thread);
  ASSERT_NE(launch.counters, nullptr);
  EXPECT_EQ(launch.counters->at("a.sum"), 3);
  EXPECT_EQ(op(R"("launch", "kernel": "k", "scale": 0)").scale, 0);
  const RecordedOp cooperative =
      op(R"("launch", "kernel": "k", "api": "cuLaunchCooperativeKernel")");
  EXPECT_EQ(cooperative.api, LaunchApi::cooperative);
  EXPECT_FALSE(cooperative.per_thread);
  const RecordedOp plain = op(R"("launch", "kernel": "k", "api": "cuLaunchKernel_ptsz")");
  EXPECT_EQ(plain.api, LaunchApi::kernel);
  EXPECT_TRUE(plain.per_thread);
  for (const char* api : {"_ptsz", "cuLaunchKernel_pts", "cuLaunchGrid", ""})
    EXPECT_NE(error(R"("launch", "kernel": "k", "api": ")" + std::string(api) + "\"")
                  .find("\"api\" must be"),
              std::string::npos)
        << api;
  for (const char* wrong : {R"("thread": 1024)", R"("thread": -1)", R"("stream": 100001)",
                            R"("stream": -1)", R"("scale": -0.1)", R"("scale": "1")",
                            R"("counters": [])", R"("host_ns": -1)", R"("event": 1)"})
    EXPECT_NE(error(R"("launch", "kernel": "k", )" + std::string(wrong)), "") << wrong;
}

TEST(RecordedOps, AGraphLaunchHasKernelsOrAGraph) {
  const RecordedOp kernels =
      op(R"("graph_launch", "kernels": ["l", "k", "l"], "time_ns": 9, "host_ns": 5, "stream": 2)");
  EXPECT_EQ(kernels.kernels, (std::vector<std::uint32_t>{1, 0, 1}));
  EXPECT_EQ(kernels.id, 0);
  EXPECT_EQ(kernels.time_ns, 9u);
  EXPECT_EQ(kernels.host_ns, 5u);
  EXPECT_EQ(kernels.stream, 2u);
  EXPECT_EQ(op(R"("graph_launch", "graph": 6)").id, 6);
  for (const char* wrong :
       {R"("graph_launch")", R"("graph_launch", "kernels": [])",
        R"("graph_launch", "kernels": ["k"], "graph": 1)", R"("graph_launch", "kernels": ["none"])",
        R"("graph_launch", "kernels": "k")", R"("graph_launch", "kernels": ["k", 1])"})
    EXPECT_NE(error(wrong), "") << wrong;
}

TEST(RecordedOps, Ranges) {
  const RecordedOp push = op(R"("push", "name": "a", "domain": "d", "direction": "recompute")");
  EXPECT_EQ(push.name, "a");
  EXPECT_EQ(push.domain, "d");
  EXPECT_TRUE(push.has_domain);
  EXPECT_EQ(push.direction, Direction::recompute);
  const RecordedOp start = op(R"("start", "name": "b", "id": 7)");
  EXPECT_EQ(start.name, "b");
  EXPECT_EQ(start.id, 7);
  EXPECT_FALSE(start.has_domain);
  EXPECT_EQ(start.direction, Direction::none);
  const RecordedOp pop = op(R"("pop", "domain": "")");
  EXPECT_TRUE(pop.has_domain);
  const RecordedOp end = op(R"("end", "id": 7, "domain": "d", "thread": 3)");
  EXPECT_EQ(end.id, 7);
  EXPECT_EQ(end.domain, "d");
  EXPECT_TRUE(end.has_domain);
  EXPECT_EQ(end.thread, 3);
  for (const char* wrong :
       {R"("push")", R"("push", "name": "a", "direction": "up")", R"("push", "name": "a", "id": 1)",
        R"("start", "name": "a")", R"("end")", R"("pop", "name": "a")", R"("pop", "stream": 1)"})
    EXPECT_NE(error(wrong), "") << wrong;
}

TEST(RecordedOps, Copies) {
  for (const auto& [word, kind] : {std::pair("h2d", CopyKind::host_to_device),
                                   {"d2h", CopyKind::device_to_host},
                                   {"d2d", CopyKind::device_to_device},
                                   {"memset", CopyKind::memset}}) {
    EXPECT_EQ(op(R"("copy", "bytes": 1, "kind": ")" + std::string(word) + "\"").copy, kind);
    EXPECT_EQ(recorded_copy(kind), word);
  }
  EXPECT_EQ(recorded_copy(CopyKind::peer), "");
  for (const auto& [word, host] : {std::pair("pinned", HostMemory::pinned),
                                   {"pageable", HostMemory::pageable},
                                   {"managed", HostMemory::managed},
                                   {"unknown", HostMemory::unknown}})
    EXPECT_EQ(op(R"("copy", "bytes": 1, "kind": "h2d", "host": ")" + std::string(word) + "\"").host,
              host);
  const RecordedOp copy = op(R"("copy", "kind": "h2d", "bytes": 4096, "time_ns": 5, "stream": 1, )"
                             R"("context": 2, "host_ns": 3)");
  EXPECT_EQ(copy.amount, 4096u);
  EXPECT_EQ(copy.time_ns, 5u);
  EXPECT_EQ(copy.stream, 1u);
  EXPECT_EQ(copy.context, 2u);
  EXPECT_EQ(copy.host_ns, 3u);
  for (const char* wrong :
       {R"("copy", "kind": "h2d")", R"("copy", "bytes": 1)", R"("copy", "kind": "p2p", "bytes": 1)",
        R"("copy", "kind": "h2d", "bytes": 1, "host": "paged")"})
    EXPECT_NE(error(wrong), "") << wrong;
}

TEST(RecordedOps, StreamsAndEvents) {
  const RecordedOp stream = op(R"("sync", "stream": 3, "context": 1)");
  EXPECT_FALSE(stream.whole_context);
  EXPECT_EQ(stream.stream, 3u);
  EXPECT_EQ(stream.context, 1u);
  EXPECT_EQ(stream.id, 0);
  const RecordedOp event = op(R"("sync", "event": 1)");
  EXPECT_FALSE(event.whole_context);
  EXPECT_EQ(event.id, 1);
  EXPECT_TRUE(op(R"("sync")").whole_context);
  const RecordedOp wait = op(R"("stream_wait", "event": 2, "stream": 4)");
  EXPECT_EQ(wait.id, 2);
  EXPECT_EQ(wait.stream, 4u);
  EXPECT_EQ(op(R"("event_record", "event": 2, "context": 4)").context, 4u);
  for (const char* wrong : {R"("sync", "event": 0)", R"("event_record", "event": 0)",
                            R"("stream_wait")", R"("sync", "host_ns": 1)"})
    EXPECT_NE(error(wrong), "") << wrong;
}

TEST(RecordedOps, TimesAndTexts) {
  EXPECT_EQ(op(R"("idle", "ns": 12)").amount, 12u);
  EXPECT_EQ(op(R"("sleep", "ms": 13)").amount, 13u);
  EXPECT_EQ(op(R"("print", "text": "hello")").name, "hello");
  const RecordedOp play = op(R"("play", "sequence": "t", "times": 0)");
  EXPECT_EQ(play.index, 1u);
  EXPECT_EQ(play.amount, 0u);
  for (const char* how : {"return", "exit", "_exit", "quick_exit", "abort", "throw", "signal"})
    EXPECT_EQ(op(R"("exit", "code": 255, "how": ")" + std::string(how) + "\"").name, how);
  EXPECT_EQ(op(R"("exit", "code": 255)").code, 255);
  for (const char* wrong : {R"("idle")", R"("sleep")", R"("print")", R"("exit", "code": 256)",
                            R"("exit", "code": -1)", R"("play")", R"("gable_step", "ns": 1)"})
    EXPECT_NE(error(wrong), "") << wrong;
}

TEST(RecordedOps, ContextsGraphsAndModules) {
  const RecordedOp context = op(R"("context", "context": 1, "device": 63)");
  EXPECT_EQ(context.context, 1u);
  EXPECT_EQ(context.device, 63);
  EXPECT_EQ(op(R"("context", "context": 1)").device, 0);
  EXPECT_EQ(op(R"("destroy_context", "context": 5)").context, 5u);
  const RecordedOp module = op(R"("load_module", "context": 2, "unload": 1)");
  EXPECT_TRUE(module.update);
  EXPECT_EQ(module.context, 2u);
  EXPECT_FALSE(op(R"("load_module", "unload": 0)").update);
  EXPECT_FALSE(op(R"("load_module")").update);
  EXPECT_EQ(op(R"("capture_begin", "stream": 3)").stream, 3u);
  const RecordedOp made = op(R"("capture_end", "stream": 3, "graph": 8)");
  EXPECT_EQ(made.id, 8);
  EXPECT_EQ(made.stream, 3u);
  EXPECT_FALSE(made.update);
  const RecordedOp updated = op(R"("capture_end", "update": 9)");
  EXPECT_EQ(updated.id, 9);
  EXPECT_TRUE(updated.update);
  EXPECT_EQ(op(R"("capture_end")").id, 0);
  EXPECT_EQ(op(R"("graph_destroy", "graph": 4)").id, 4);
  for (const char* wrong :
       {R"("context", "context": 0)", R"("context")", R"("context", "context": 1, "device": 64)",
        R"("load_module", "unload": 2)", R"("graph_destroy")",
        R"("capture_end", "update": 1, "graph": 1)", R"("context", "context": 1, "stream": 1)"})
    EXPECT_NE(error(wrong), "") << wrong;
}

}  // namespace
}  // namespace gable::tests

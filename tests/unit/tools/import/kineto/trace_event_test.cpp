// SPDX-License-Identifier: Apache-2.0
#include "tools/import/kineto/trace_event.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tools/base/wrong_use.h"

namespace gable {
namespace {

TraceEvent event_of(const std::string& text) {
  TextSource source(text, "a.json");
  JsonStream json(source);
  EXPECT_EQ(json.next(), JsonStream::Token::object);
  TraceEvent event;
  event.correlation = 77;  // it starts anew
  event.metadata = event.complete = true;
  read_trace_event(json, event);
  EXPECT_EQ(json.next(), JsonStream::Token::end) << text;
  return event;
}
std::string refusal(const std::string& text) {
  try {
    (void)event_of(text);
  } catch (const WrongUse& problem) {
    return problem.what();
  }
  return {};
}
// A kernel with these arguments.
std::string with_args(const std::string& args) {
  return R"({"ph":"X","cat":"kernel","ts":1,"dur":2,"args":{)" + args + "}}";
}
TraceEvent args_of(const std::string& args) { return event_of(with_args(args)); }

TEST(TraceEvents, HaveACategory) {
  struct Case {
    const char* text;
    TraceCategory category;
  };
  for (const auto& [text, category] :
       {Case{"kernel", TraceCategory::kernel}, Case{"Kernel", TraceCategory::kernel},
        Case{"gpu_memcpy", TraceCategory::memcpy}, Case{"Memcpy", TraceCategory::memcpy},
        Case{"gpu_memset", TraceCategory::memset}, Case{"Memset", TraceCategory::memset},
        Case{"cuda_runtime", TraceCategory::call}, Case{"cuda_driver", TraceCategory::call},
        Case{"Runtime", TraceCategory::call}, Case{"cuda_sync", TraceCategory::wait},
        Case{"cpu_op", TraceCategory::operation}, Case{"Operator", TraceCategory::operation},
        Case{"user_annotation", TraceCategory::annotation},
        Case{"python_function", TraceCategory::python},
        Case{"cuda_profiler_range", TraceCategory::counters}, Case{"x", TraceCategory::other}}) {
    const TraceEvent event =
        event_of(R"({"ph":"X","cat":")" + std::string(text) + R"(","ts":1,"name":"n","more":[1]})");
    EXPECT_EQ(event.category, category) << text;
    EXPECT_EQ(event.name, category == TraceCategory::other ? "" : "n") << text;
  }
  for (const auto& [text, accelerator] :
       {std::pair{"mtia_ccp_events", "MTIA"}, std::pair{"xpu_runtime", "XPU"},
        std::pair{"hpu_op", "HPU"}, std::pair{"glow_runtime", "Glow"},
        std::pair{"privateuse1_driver", "PrivateUse1"}, std::pair{"kernel", ""},
        std::pair{"my_xpu_", ""}})
    EXPECT_EQ(event_of(R"({"ph":"X","ts":1,"cat":")" + std::string(text) + R"("})").accelerator,
              accelerator);
}

TEST(TraceEvents, AreCompleteOrMetadata) {
  const TraceEvent complete =
      event_of(R"({"ph":"X","cat":"kernel","name":"k","pid":3,"tid":"t","ts":1.5,"dur":2.25})");
  EXPECT_TRUE(complete.complete);
  EXPECT_FALSE(complete.metadata);
  EXPECT_EQ(complete.name, "k");
  EXPECT_EQ(complete.pid, "3");
  EXPECT_EQ(complete.tid, "t");
  EXPECT_TRUE(complete.has_start);
  EXPECT_TRUE(complete.has_duration);
  EXPECT_EQ(complete.start_ns, 1500);
  EXPECT_EQ(complete.duration_ns, 2250u);
  EXPECT_EQ(complete.wrapped_end_ns(), 3750u);
  EXPECT_EQ(complete.correlation, std::nullopt);
  EXPECT_EQ(complete.device, 3u);
  const TraceEvent metadata = event_of(
      R"({"ph":"M","ts":"x","dur":{},"name":"process_name","args":{"name":"/device:GPU:0"}})");
  EXPECT_TRUE(metadata.metadata);
  EXPECT_FALSE(metadata.complete);
  EXPECT_FALSE(metadata.has_start);
  EXPECT_EQ(metadata.name, "process_name");
  EXPECT_EQ(metadata.xla.name, "/device:GPU:0");
  for (const char* other : {R"("i")", "1", R"(["X"])", "null"}) {
    const TraceEvent event =
        event_of(R"({"ph":)" + std::string(other) + R"(,"name":"n","ts":"x"})");
    EXPECT_FALSE(event.complete || event.metadata) << other;
    EXPECT_EQ(event.name, "") << other;
  }
  EXPECT_EQ(event_of(R"({"ph":"X","cat":7,"name":"n","ts":1})").name, "");
}

TEST(TraceEvents, WithoutATimeAreRefusedWhereItMatters) {
  EXPECT_NE(refusal(R"({"ph":"X","cat":"kernel"})").find("no ts"), std::string::npos);
  EXPECT_EQ(refusal(R"({"ph":"X","name":"n"})"), "");
  EXPECT_EQ(refusal(R"({"cat":"kernel"})"), "");
  EXPECT_FALSE(event_of(R"({"ph":"X","cat":"kernel","ts":1})").has_duration);
  for (const char* wrong : {"null", "[1]", R"("x")", "1e99"})
    EXPECT_NE(refusal(R"({"ph":"X","cat":"kernel","ts":)" + std::string(wrong) + "}"), "") << wrong;
  EXPECT_NE(refusal(R"({"ph":"X","cat":"kernel","ts":1,"dur":-0.001})").find("dur is out"),
            std::string::npos);
  EXPECT_EQ(refusal(R"({"ph":"X","cat":"kernel","ts":1,"dur":0})"), "");
  // Their end is the last time there is, and one ns behind it.
  EXPECT_EQ(refusal(R"({"ph":"X","cat":"kernel","ts":9223372036854774,"dur":0.807})"), "");
  EXPECT_NE(refusal(R"({"ph":"X","cat":"kernel","ts":9223372036854774,"dur":1.808})"), "");
  EXPECT_EQ(event_of(R"({"ph":"X","cat":"kernel","ts":-1.5})").start_ns, -1500);
}

TEST(TraceEvents, TheDeviceMayBeTheProcess) {
  const auto device = [](const std::string& pid, const std::string& args = {}) {
    return event_of(R"({"ph":"X","cat":"kernel","ts":1,"pid":)" + pid + R"(,"args":{)" + args +
                    "}}")
        .device;
  };
  EXPECT_EQ(device("255"), 255u);
  EXPECT_EQ(device("256"), 0u);
  EXPECT_EQ(device(R"("7")"), 7u);
  EXPECT_EQ(device(R"("7x")"), 0u);
  EXPECT_EQ(device(R"("python")"), 0u);
  EXPECT_EQ(device("7", R"("device":2)"), 2u);
}

TEST(TraceEvents, ArgumentsAreNumbers) {
  const TraceEvent event = args_of(
      R"("correlation":1,"External id":"2","device":1048576,"stream":4,"context":4294967295,)"
      R"("graph node id":6,"wait_on_stream":7,"wait_on_cuda_event_record_corr_id":8,)"
      R"("registers per thread":65535,"shared memory":2147483647,"bytes":11,)"
      R"("Sequence number":12,"Fwd thread id":13,"Python id":14,"Python parent id":15)");
  EXPECT_EQ(event.correlation, 1u);
  EXPECT_EQ(event.external, 2u);
  EXPECT_EQ(event.device, 1048576u);
  EXPECT_EQ(event.stream, 4u);
  EXPECT_EQ(event.context, 4294967295u);
  EXPECT_EQ(event.graph_node, 6u);
  EXPECT_EQ(event.wait_stream, 7u);
  EXPECT_EQ(event.wait_record, 8u);
  EXPECT_EQ(event.registers, 65535u);
  EXPECT_EQ(event.shared_bytes, 2147483647u);
  EXPECT_EQ(event.bytes, 11u);
  EXPECT_EQ(event.sequence, 12u);
  EXPECT_EQ(event.forward_thread, 13u);
  EXPECT_EQ(event.python_id, 14u);
  EXPECT_EQ(event.python_parent, 15u);
  EXPECT_EQ(args_of(R"("external id":3)").external, 3u);
  EXPECT_EQ(args_of(R"("stream":9223372036854775807)").stream, 9223372036854775807u);
  for (const char* none : {"-1", "null", R"("x")", R"("7x")", "1.5", "[1]", R"({"a":1})"})
    EXPECT_EQ(args_of(R"("stream":)" + std::string(none)).stream, std::nullopt) << none;
  EXPECT_EQ(args_of(R"("Fwd thread id":-1)").forward_thread, 0u);
  EXPECT_EQ(args_of(R"("stream":0)").stream, 0u);
}

TEST(TraceEvents, ArgumentsOutOfRangeAreRefused) {
  for (const char* args :
       {R"("device":1048577)", R"("context":4294967296)", R"("registers per thread":65536)",
        R"("shared memory":2147483648)", R"("stream":9223372036854775808)",
        R"("Group size":4294967296)", R"("grid":[4294967296,1,1])", R"("a__b.sum":-1)",
        R"("a__b.sum":2e30)", R"("a__b.sum":1e999)"})
    EXPECT_NE(refusal(with_args(args)).find("out of range"), std::string::npos) << args;
}

TEST(TraceEvents, SizesAreThreeNumbersAbove0) {
  const TraceEvent event = args_of(R"("grid":[1,2,3],"block":[4,5,4294967295])");
  EXPECT_EQ(event.grid, (Dim3{1, 2, 3}));
  EXPECT_EQ(event.block, (Dim3{4, 5, 4294967295}));
  for (const char* grid : {"[0,1,1]", "[1,1,0]", "[1,1]", "[1,1,1,1]", "[]", "7", "[1,null,1]"})
    EXPECT_EQ(args_of(R"("grid":)" + std::string(grid)).grid, std::nullopt) << grid;
}

TEST(TraceEvents, InputsHaveSizesTypesAndValues) {
  using SizesOf = std::vector<std::vector<std::int64_t>>;
  const TraceEvent event = args_of(
      R"("Input Dims":[[32,3],[],7,[[2,2],[2]],["x",1],[1.5]],"Input type":["float","",7,["x"]],)"
      R"("Concrete Inputs":["1"])");
  EXPECT_TRUE(event.has_dims);
  EXPECT_EQ(event.dims, (SizesOf{{32, 3}, {}, {}, {}, {1}}));
  EXPECT_EQ(event.types, (std::vector<std::string>{"float", "", "", ""}));
  EXPECT_EQ(event.values, std::vector<std::string>{"1"});
  EXPECT_EQ(args_of(R"("Input dims":[[4]])").dims, SizesOf{{4}});
  EXPECT_FALSE(args_of(R"("Input Dims":7,"Input type":{"a":1})").has_dims);
  std::string dims = "[1]", types = R"("a")";
  for (int i = 1; i < 257; ++i) {
    dims += ",[1]";
    types += R"(,"a")";
  }
  const TraceEvent many = args_of(R"("Input Dims":[)" + dims + R"(],"Input type":[)" + types + "]");
  EXPECT_EQ(many.dims.size(), 256u);
  EXPECT_EQ(many.types.size(), 256u);
}

TEST(TraceEvents, CountersAreNamedAsCuptisAre) {
  const TraceEvent event = args_of(
      R"("a__b.sum":1.5,"c__d.max":null,"e__f":1,"g.h":2,"i__j.k":"x","l__m.n":0,"o__p.q":1e30)");
  ASSERT_EQ(event.counters.size(), 4u);
  EXPECT_EQ(event.counters[0], (std::pair<std::string, double>{"a__b.sum", 1.5}));
  EXPECT_EQ(event.counters[1].first, "c__d.max");
  EXPECT_TRUE(std::isnan(event.counters[1].second));
  EXPECT_EQ(event.counters[2].second, 0);
  EXPECT_EQ(event.counters[3].second, 1e30);
}

TEST(TraceEvents, JaxHasArgumentsOfItsOwn) {
  const TraceEvent event = args_of(
      R"("correlation_id":5,"step_num":{"a":1},"cuda_graph_exec_id":[2],"hlo_op":"dot.4","tf_op":7)");
  EXPECT_EQ(event.xla.correlation, 5u);
  EXPECT_TRUE(event.xla.numbered_step);
  EXPECT_TRUE(event.xla.whole_graph);
  EXPECT_EQ(event.xla.hlo_op, "dot.4");
  EXPECT_EQ(event.xla.tf_op, "7");
  EXPECT_EQ(args_of(R"("hlo_op":[1])").xla.hlo_op, "");
  EXPECT_EQ(event_of(R"({"ph":"X","cat":"kernel","ts":1,"args":7})").correlation, std::nullopt);
}

TEST(TraceEvents, CollectivesAreDescribed) {
  const TraceEvent event = args_of(
      R"("Collective name":"allreduce","dtype":"Float","In msg nelems":10,"Out msg nelems":20,)"
      R"("Group size":4294967295,"Process Group Name":"g","Process Group Ranks":"[0, 1]","Seq":8)");
  EXPECT_EQ(event.message.collective, "allreduce");
  EXPECT_EQ(event.message.type, "Float");
  EXPECT_EQ(event.message.in, 10u);
  EXPECT_EQ(event.message.out, 20u);
  EXPECT_EQ(event.message.ranks, 4294967295u);
  EXPECT_EQ(event.message.group, "g");
  EXPECT_EQ(event.message.members, "[0,1]");
  EXPECT_EQ(event.message.sequence, 8u);
  EXPECT_FALSE(event.message.uneven);
  const auto members = [](const std::string& value) {
    return args_of(R"("Process Group Ranks":)" + value).message.members;
  };
  EXPECT_EQ(members("[0,1,12]"), "[0,1,12]");
  EXPECT_EQ(members("[3]"), "[3]");
  EXPECT_EQ(members("7"), "");
  EXPECT_EQ(members('"' + std::string(4097, '1') + '"').size(), 4096u);
  EXPECT_EQ(args_of(R"("seq_num":9)").message.sequence, 9u);
  struct Case {
    const char* splits;
    bool uneven;
  };
  for (const auto& [splits, uneven] :
       {Case{R"("[128, 256]")", true}, Case{R"("[128, 128]")", false}, Case{R"("[]")", false},
        Case{R"("[128, 12...")", true}, Case{R"("1,1,12")", true}, Case{"[1]", false}}) {
    EXPECT_EQ(args_of(R"("In split size":)" + std::string(splits)).message.uneven, uneven)
        << splits;
    EXPECT_EQ(args_of(R"("Out split size":)" + std::string(splits)).message.uneven, uneven)
        << splits;
  }
  EXPECT_TRUE(args_of(R"("In split size":"[1,2]","Out split size":"[1,1]")").message.uneven);
}

TEST(TraceMessages, HaveTheBytesOfARanksBuffer) {
  TraceMessage message;
  EXPECT_FALSE(collective_of(message));
  message.collective = "allreduce";
  message.type = "Float";
  message.in = 10;
  message.out = 30;
  message.ranks = 4;
  EXPECT_EQ(collective_of(message)->kind, Collective::all_reduce);
  EXPECT_EQ(collective_of(message)->ranks, 4u);
  EXPECT_EQ(collective_of(message)->bytes, 40u);
  for (const auto& [type, bytes] :
       {std::pair{"Byte", 10u}, std::pair{"Char", 10u}, std::pair{"Bool", 10u},
        std::pair{"Short", 20u}, std::pair{"Int", 40u}, std::pair{"Long", 80u},
        std::pair{"Half", 20u}, std::pair{"BFloat16", 20u}, std::pair{"Double", 80u},
        std::pair{"ComplexHalf", 40u}, std::pair{"ComplexFloat", 80u},
        std::pair{"ComplexDouble", 160u}, std::pair{"Float8_e4m3fn", 10u}}) {
    message.type = type;
    EXPECT_EQ(collective_of(message)->bytes, bytes) << type;
  }
  message.type = "Other";
  EXPECT_EQ(collective_of(message)->bytes, std::nullopt);
  message.type = "Byte";
  message.collective = "_allgather_base";
  EXPECT_EQ(collective_of(message)->kind, Collective::all_gather);
  EXPECT_EQ(collective_of(message)->bytes, 30u);
  message.out = (std::uint64_t{1} << 50) - 1;
  EXPECT_EQ(collective_of(message)->bytes, (std::uint64_t{1} << 50) - 1);
  message.out = std::uint64_t{1} << 50;
  EXPECT_EQ(collective_of(message)->bytes, std::nullopt);
  message.out = 30;
  message.uneven = true;
  EXPECT_EQ(collective_of(message)->bytes, std::nullopt);
  message.uneven = false;
  message.ranks.reset();
  EXPECT_EQ(collective_of(message)->ranks, 0u);
}

TEST(TraceTimes, AreMicrosecondsInNanoseconds) {
  struct Case {
    const char* text;
    std::int64_t ns;
  };
  for (const auto& [text, ns] :
       {Case{"0", 0}, Case{"7", 7000}, Case{"1.5", 1500}, Case{"1.25", 1250}, Case{"1.125", 1125},
        Case{"1.", 1000}, Case{"1.1234", 1123}, Case{"1.1235", 1124}, Case{"1.12349", 1123},
        Case{"1.9995", 2000}, Case{"-1.5", -1500}, Case{"-0.0005", -1}, Case{"1e3", 1'000'000},
        Case{"1.5e3", 1'500'000}, Case{"-2e-3", -2}, Case{"1.0004e3", 1'000'400},
        Case{"9223372036854774.999", 9223372036854774999}, Case{"9e15", 9'000'000'000'000'000'000}})
    EXPECT_EQ(trace_time(text), ns) << text;
  for (const char* text : {"", "-", "x", "1x", "1.5x", "9223372036854775", "1e16", ".5", "--1"})
    EXPECT_EQ(trace_time(text), std::nullopt) << text;
}

TEST(TraceHandles, HaveUpTo32Bits) {
  EXPECT_EQ(trace_handle(std::nullopt), 0u);
  EXPECT_EQ(trace_handle(7), 7u);
  EXPECT_EQ(trace_handle(4294967295), 4294967295u);
  EXPECT_EQ(trace_handle(4294967296), 4294967295u);
}

}  // namespace
}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// What would go wrong for a user: a way to launch a kernel or to copy memory that nobody sees, so
// that its time is in no layer. The header of the CUPTI that we compile against lists every call.
#include "collector/cupti/launch_calls.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

namespace gable {
namespace {

std::map<std::string, CUpti_CallbackId> driver_calls() {
  std::ifstream file(GABLE_DRIVER_CALLS);
  std::stringstream text;
  text << file.rdbuf();
  const std::string all = text.str();
  const std::regex line("CUPTI_DRIVER_TRACE_CBID_(\\w+)\\s*=\\s*(\\d+)");
  std::map<std::string, CUpti_CallbackId> calls;
  for (std::sregex_iterator one(all.begin(), all.end(), line), end; one != end; ++one)
    calls[(*one)[1]] = static_cast<CUpti_CallbackId>(std::stoul((*one)[2]));
  return calls;
}

// Launch entries that are no launch of a kernel, or that nobody can count.
const std::map<std::string, std::string> kNoLaunches = {
    {"cuLaunchCooperativeKernelMultiDevice",
     "removed from CUDA 13; CUPTI's range profiler never supported it"},
    {"cuLaunchHostFunc", "runs a function of the host"},
    {"cuLaunchHostFunc_ptsz", "runs a function of the host"},
    {"cuLaunchHostFunc_v2", "runs a function of the host"},
    {"cuLaunchHostFunc_v2_ptsz", "runs a function of the host"},
};

TEST(DriverCalls, TheHeaderIsRead) {
  const auto calls = driver_calls();
  EXPECT_GT(calls.size(), 600u);
  EXPECT_EQ(calls.at("cuLaunchKernel"), CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
}

TEST(DriverCalls, EveryLaunchIsFollowedOrNone) {
  int launches = 0;
  for (const auto& [name, id] : driver_calls()) {
    if (name.find("Launch") == std::string::npos) continue;
    ++launches;
    const auto kind = kind_of(id);
    const bool followed = kind == CallKind::launch || kind == CallKind::graph_launch;
    EXPECT_NE(followed, kNoLaunches.count(name) == 1) << name;
  }
  EXPECT_GE(launches, 14);
}

// Each launch of a kernel says which, whatever the layout of its arguments.
TEST(DriverCalls, EveryLaunchIsUnderstood) {
  alignas(16) char none[256] = {};
  for (const auto& [name, id] : driver_calls()) {
    if (kind_of(id) != CallKind::launch) continue;
    LaunchArguments arguments;
    EXPECT_TRUE(decode_launch(id, none, arguments)) << name;
  }
}

TEST(DriverCalls, EveryCopyIsFollowed) {
  int copies = 0;
  const auto calls = driver_calls();
  for (const auto& [name, id] : calls) {
    if (name.rfind("cuMemcpy", 0) != 0 && name.rfind("cuMemset", 0) != 0) continue;
    // The first versions of calls that have a second are those of 32-bit pointers: no driver of
    // today exports them. Of cuMemcpy it is the other way round.
    const bool old =
        name == "cuMemcpy_v2" || (calls.count(name + "_v2") == 1 && name != "cuMemcpy" &&
                                  name.find("Batch") == std::string::npos);
    EXPECT_EQ(kind_of(id) == CallKind::copy, !old) << name;
    copies += old ? 0 : 1;
  }
  EXPECT_GE(copies, 60);
}

TEST(DriverCalls, NoCallIsNamedTwice) {
  std::set<CUpti_CallbackId> seen;
  for (const auto id : watched_calls()) EXPECT_TRUE(seen.insert(id).second) << id;
}

// --- calls of a step that is recorded call by call

template <typename Params>
StepCall decoded(CUpti_CallbackId id, const Params& params, CUresult answer = CUDA_SUCCESS) {
  CUpti_CallbackData data{};
  data.callbackSite = CUPTI_API_EXIT;
  data.functionParams = &params;
  data.functionReturnValue = &answer;
  data.contextUid = 4;
  data.correlationId = 9;
  StepCall call;
  call.thread = 3;
  decode_step_call(id, data, call);
  EXPECT_EQ(call.context, 4u);
  EXPECT_EQ(call.correlation, 9u);
  return call;
}
#define GABLE_DECODED(call, ...) decoded(CUPTI_DRIVER_TRACE_CBID_##call, call##_params{__VA_ARGS__})

template <typename Handle>
Handle handle(std::uintptr_t number) {
  return reinterpret_cast<Handle>(number);
}
const auto kEvent = handle<CUevent>(0xe000);
const auto kStream = handle<CUstream>(0x5000);

TEST(StepCalls, EventsAndStreamsAreThoseOfTheArguments) {
  const auto record = GABLE_DECODED(cuEventRecord, kEvent, kStream);
  EXPECT_EQ(record.kind, RecordedCallKind::event_record);
  EXPECT_EQ(record.object, 0xe000u);
  EXPECT_EQ(record.stream, 0x5000u);
  EXPECT_FALSE(record.legacy);
  const auto flagged = GABLE_DECODED(cuEventRecordWithFlags, kEvent, kStream, 1);
  EXPECT_EQ(flagged.kind, RecordedCallKind::event_record);
  EXPECT_EQ(flagged.object, 0xe000u);
  const auto wait = GABLE_DECODED(cuStreamWaitEvent, kStream, kEvent, 0);
  EXPECT_EQ(wait.kind, RecordedCallKind::stream_wait);
  EXPECT_EQ(wait.object, 0xe000u);
  EXPECT_EQ(wait.stream, 0x5000u);
  const auto host = GABLE_DECODED(cuEventSynchronize, kEvent);
  EXPECT_EQ(host.kind, RecordedCallKind::event_synchronize);
  EXPECT_EQ(host.object, 0xe000u);
  EXPECT_EQ(host.stream, 0u);
  EXPECT_EQ(GABLE_DECODED(cuStreamSynchronize, kStream).stream, 0x5000u);
  const auto graph = GABLE_DECODED(cuGraphLaunch, handle<CUgraphExec>(0x9000), kStream);
  EXPECT_EQ(graph.kind, RecordedCallKind::graph_launch);
  EXPECT_EQ(graph.object, 0x9000u);
  EXPECT_EQ(graph.stream, 0x5000u);
}

// No stream means the legacy default stream, which blocks others, or the thread's own.
TEST(StepCalls, NoStreamIsOneOfTwoDefaultStreams) {
  const auto legacy = GABLE_DECODED(cuEventRecord, kEvent, nullptr);
  EXPECT_TRUE(legacy.legacy);
  EXPECT_EQ(legacy.stream, GABLE_DECODED(cuEventRecord, kEvent, CU_STREAM_LEGACY).stream);
  EXPECT_TRUE(GABLE_DECODED(cuEventRecord_ptsz, kEvent, CU_STREAM_LEGACY).legacy);
  const auto own = GABLE_DECODED(cuEventRecord_ptsz, kEvent, nullptr);
  EXPECT_FALSE(own.legacy);
  EXPECT_EQ(own.stream, StepCall::kThreadsOwn | 3);
  EXPECT_EQ(own.stream, GABLE_DECODED(cuEventRecord, kEvent, CU_STREAM_PER_THREAD).stream);
  EXPECT_TRUE(GABLE_DECODED(cuMemcpyHtoD_v2, 1, nullptr, 4).legacy);
  EXPECT_EQ(GABLE_DECODED(cuMemcpyHtoD_v2_ptds, 1, nullptr, 4).stream, own.stream);
}

TEST(StepCalls, QueriesSayHowTheyEnded) {
  const cuEventQuery_params event{kEvent};
  const auto id = CUPTI_DRIVER_TRACE_CBID_cuEventQuery;
  EXPECT_EQ(decoded(id, event).kind, RecordedCallKind::query_succeeded);
  EXPECT_EQ(decoded(id, event, CUDA_ERROR_NOT_READY).kind, RecordedCallKind::query_not_ready);
  EXPECT_EQ(decoded(id, event, CUDA_ERROR_INVALID_HANDLE).kind, RecordedCallKind::other);
  EXPECT_EQ(decoded(id, event).object, 0xe000u);
  const auto stream = GABLE_DECODED(cuStreamQuery, kStream);
  EXPECT_EQ(stream.kind, RecordedCallKind::query_succeeded);
  EXPECT_EQ(stream.object, 0u);
  EXPECT_EQ(stream.stream, 0x5000u);
}

TEST(StepCalls, LaunchesAndCopiesAreOnTheirStreams) {
  cuLaunchKernel_params kernel{};
  kernel.hStream = kStream;
  const auto plain = decoded(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, kernel);
  EXPECT_EQ(plain.kind, RecordedCallKind::launch);
  EXPECT_EQ(plain.stream, 0x5000u);
  EXPECT_FALSE(plain.copy);
  EXPECT_FALSE(plain.programmatic);
  CUlaunchAttribute early{};
  early.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  early.value.programmaticStreamSerializationAllowed = 1;
  CUlaunchConfig config{};
  config.hStream = kStream;
  config.attrs = &early;
  config.numAttrs = 1;
  const auto ex = GABLE_DECODED(cuLaunchKernelEx, &config, nullptr, nullptr, nullptr);
  EXPECT_EQ(ex.stream, 0x5000u);
  EXPECT_TRUE(ex.programmatic);
  early.value.programmaticStreamSerializationAllowed = 0;
  EXPECT_FALSE(GABLE_DECODED(cuLaunchKernelEx, &config, nullptr, nullptr, nullptr).programmatic);
  const auto copy = GABLE_DECODED(cuMemcpyDtoHAsync_v2, nullptr, 1, 4, kStream);
  EXPECT_TRUE(copy.copy);
  EXPECT_EQ(copy.kind, RecordedCallKind::launch);
  EXPECT_EQ(copy.stream, 0x5000u);
  const auto failed = decoded(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, kernel, CUDA_ERROR_UNKNOWN);
  EXPECT_EQ(failed.kind, RecordedCallKind::other);
}

// A kind that waits for another, or for nothing, gives steps edges that are not there.
TEST(StepCalls, EachNameHasItsKind) {
  const std::map<std::string, RecordedCallKind> kinds = {
      {"cuCtxSynchronize", RecordedCallKind::context_synchronize},
      {"cuCtxSynchronize_v2", RecordedCallKind::context_synchronize},
      {"cuStreamSynchronize", RecordedCallKind::stream_synchronize},
      {"cuStreamSynchronize_ptsz", RecordedCallKind::stream_synchronize},
      {"cuEventSynchronize", RecordedCallKind::event_synchronize},
      {"cuEventRecord", RecordedCallKind::event_record},
      {"cuEventRecord_ptsz", RecordedCallKind::event_record},
      {"cuEventRecordWithFlags", RecordedCallKind::event_record},
      {"cuEventRecordWithFlags_ptsz", RecordedCallKind::event_record},
      {"cuStreamWaitEvent", RecordedCallKind::stream_wait},
      {"cuStreamWaitEvent_ptsz", RecordedCallKind::stream_wait},
      {"cuEventQuery", RecordedCallKind::query_succeeded},
      {"cuStreamQuery", RecordedCallKind::query_succeeded},
      {"cuStreamQuery_ptsz", RecordedCallKind::query_succeeded},
      {"cuMemFree_v2", RecordedCallKind::free_memory},
      {"cuMemFreeHost", RecordedCallKind::free_memory},
      {"cuLaunchHostFunc", RecordedCallKind::host_function},
      {"cuLaunchHostFunc_ptsz", RecordedCallKind::host_function},
      {"cuLaunchHostFunc_v2", RecordedCallKind::host_function},
      {"cuLaunchHostFunc_v2_ptsz", RecordedCallKind::host_function},
      {"cuStreamAddCallback", RecordedCallKind::host_function},
      {"cuStreamAddCallback_ptsz", RecordedCallKind::host_function},
  };
  const auto calls = driver_calls();
  alignas(16) const char none[256] = {};
  for (const auto& [name, id] : calls) {
    const auto kind = decoded(id, none).kind;
    if (const auto known = kinds.find(name); known != kinds.end()) {
      EXPECT_EQ(kind, known->second) << name;
      continue;
    }
    const auto of = kind_of(id);
    const bool batch =
        name.find("Batch") != std::string::npos || name.find("Attributes") != std::string::npos;
    auto expected = RecordedCallKind::other;
    if (of == CallKind::launch || (of == CallKind::copy && !batch))
      expected = RecordedCallKind::launch;
    if (of == CallKind::graph_launch) expected = RecordedCallKind::graph_launch;
    EXPECT_EQ(kind, expected) << name;
    const bool own = name.ends_with("_ptsz") || name.ends_with("_ptds");
    if (expected != RecordedCallKind::other) {
      EXPECT_EQ((decoded(id, none).stream & StepCall::kThreadsOwn) != 0, own) << name;
    }
  }
}

TEST(StepCalls, StreamsSayWhetherTheyBlock) {
  auto stream = kStream;
  const cuStreamCreate_params plain{&stream, CU_STREAM_DEFAULT};
  const cuStreamCreate_params free{&stream, CU_STREAM_NON_BLOCKING};
  const cuStreamCreateWithPriority_params high{&stream, CU_STREAM_NON_BLOCKING, -1};
  EXPECT_FALSE(decode_stream_made(CUPTI_DRIVER_TRACE_CBID_cuStreamCreate, &plain).non_blocking);
  EXPECT_TRUE(decode_stream_made(CUPTI_DRIVER_TRACE_CBID_cuStreamCreate, &free).non_blocking);
  const auto made = decode_stream_made(CUPTI_DRIVER_TRACE_CBID_cuStreamCreateWithPriority, &high);
  EXPECT_TRUE(made.non_blocking);
  EXPECT_EQ(made.stream, 0x5000u);
  const cuStreamDestroy_v2_params gone{kStream};
  EXPECT_EQ(destroyed_stream(&gone), 0x5000u);
}

}  // namespace
}  // namespace gable

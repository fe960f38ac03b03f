// SPDX-License-Identifier: Apache-2.0
#include "collector/cupti/launch_calls.h"

#include <array>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace gable {
namespace {

constexpr std::size_t kIds = 1024;  // driver callback ids are below 1,000 in CUPTI 13

using Step = RecordedCallKind;

// What a call does in a recorded step, and where its arguments say of what.
struct StepFacts {
  static constexpr std::uint8_t kNone = 0xff;
  Step kind = Step::other;
  bool per_thread = false;      // without a stream it means the thread's own
  std::uint8_t stream = kNone;  // offsets in the call's arguments
  std::uint8_t object = kNone;  // of the event or of the instance of a graph
};

struct Named {
  CUpti_CallbackId id;
  CallKind kind;
  StepFacts step{};
};

constexpr bool per_thread(std::string_view name) {
  return name.ends_with("_ptsz") || name.ends_with("_ptds");
}

#define ID(name) CUPTI_DRIVER_TRACE_CBID_##name
#define AT(params, argument) static_cast<std::uint8_t>(offsetof(params, argument))
constexpr Named named(CUpti_CallbackId id, std::string_view name, CallKind kind, Step step,
                      std::uint8_t stream = StepFacts::kNone,
                      std::uint8_t object = StepFacts::kNone) {
  return {id, kind, {step, per_thread(name), stream, object}};
}
#define PLAIN(name, kind, does) named(ID(name), #name, CallKind::kind, Step::does)
#define ON_STREAM(name, kind, does) \
  named(ID(name), #name, CallKind::kind, Step::does, AT(name##_params, hStream))
#define OF_EVENT(name, kind, does) \
  named(ID(name), #name, CallKind::kind, Step::does, StepFacts::kNone, AT(name##_params, hEvent))
#define ON_STREAM_OF_EVENT(name, does)                                           \
  named(ID(name), #name, CallKind::step, Step::does, AT(name##_params, hStream), \
        AT(name##_params, hEvent))
#define ASYNC(name) ON_STREAM(name, copy, launch)
#define SYNC(name) PLAIN(name, copy, launch)
constexpr Named kCalls[] = {
    PLAIN(cuLaunch, launch, launch),
    PLAIN(cuLaunchGrid, launch, launch),
    ON_STREAM(cuLaunchGridAsync, launch, launch),
    ON_STREAM(cuLaunchKernel, launch, launch),
    ON_STREAM(cuLaunchKernel_ptsz, launch, launch),
    PLAIN(cuLaunchKernelEx, launch, launch),
    PLAIN(cuLaunchKernelEx_ptsz, launch, launch),
    ON_STREAM(cuLaunchCooperativeKernel, launch, launch),
    ON_STREAM(cuLaunchCooperativeKernel_ptsz, launch, launch),
    ON_STREAM(cuGraphLaunch, graph_launch, graph_launch),
    ON_STREAM(cuGraphLaunch_ptsz, graph_launch, graph_launch),
    {ID(cuGraphExecUpdate), CallKind::graph_change},
    {ID(cuGraphExecUpdate_v2), CallKind::graph_change},
    {ID(cuGraphExecKernelNodeSetParams), CallKind::graph_change},
    {ID(cuGraphExecKernelNodeSetParams_v2), CallKind::graph_change},
    {ID(cuGraphExecChildGraphNodeSetParams), CallKind::graph_change},
    {ID(cuGraphExecNodeSetParams), CallKind::graph_change},
    {ID(cuGraphNodeSetEnabled), CallKind::graph_part},
    {ID(cuStreamBeginCapture), CallKind::capture_begin},
    {ID(cuStreamBeginCapture_ptsz), CallKind::capture_begin},
    {ID(cuStreamBeginCapture_v2), CallKind::capture_begin},
    {ID(cuStreamBeginCapture_v2_ptsz), CallKind::capture_begin},
    {ID(cuStreamBeginCaptureToGraph), CallKind::capture_begin},
    {ID(cuStreamBeginCaptureToGraph_ptsz), CallKind::capture_begin},
    {ID(cuStreamEndCapture), CallKind::capture_end},
    {ID(cuStreamEndCapture_ptsz), CallKind::capture_end},
    {ID(cuProfilerStart), CallKind::profiler_start},
    {ID(cuProfilerStop), CallKind::profiler_stop},
    {ID(cuCtxDestroy), CallKind::context_end},
    {ID(cuCtxDestroy_v2), CallKind::context_end},
    {ID(cuDevicePrimaryCtxRelease), CallKind::context_end},
    {ID(cuDevicePrimaryCtxRelease_v2), CallKind::context_end},
    {ID(cuDevicePrimaryCtxReset), CallKind::context_end},
    {ID(cuDevicePrimaryCtxReset_v2), CallKind::context_end},
    {ID(cuModuleUnload), CallKind::unload},
    {ID(cuLibraryUnload), CallKind::unload},
    PLAIN(cuCtxSynchronize, wait, context_synchronize),
    ON_STREAM(cuStreamSynchronize, wait, stream_synchronize),
    ON_STREAM(cuStreamSynchronize_ptsz, wait, stream_synchronize),
    OF_EVENT(cuEventSynchronize, wait, event_synchronize),
    // cuCtxSynchronize_v2: not all CUPTIs that we compile against name it
    {800, CallKind::wait, {Step::context_synchronize}},
    // What orders streams, and what asks how far they are: of recorded steps alone.
    ON_STREAM_OF_EVENT(cuEventRecord, event_record),
    ON_STREAM_OF_EVENT(cuEventRecord_ptsz, event_record),
    ON_STREAM_OF_EVENT(cuEventRecordWithFlags, event_record),
    ON_STREAM_OF_EVENT(cuEventRecordWithFlags_ptsz, event_record),
    ON_STREAM_OF_EVENT(cuStreamWaitEvent, stream_wait),
    ON_STREAM_OF_EVENT(cuStreamWaitEvent_ptsz, stream_wait),
    OF_EVENT(cuEventQuery, step, query_succeeded),
    ON_STREAM(cuStreamQuery, step, query_succeeded),
    ON_STREAM(cuStreamQuery_ptsz, step, query_succeeded),
    ON_STREAM(cuLaunchHostFunc, step, host_function),
    ON_STREAM(cuLaunchHostFunc_ptsz, step, host_function),
    ON_STREAM(cuStreamAddCallback, step, host_function),
    ON_STREAM(cuStreamAddCallback_ptsz, step, host_function),
    PLAIN(cuMemFree_v2, step, free_memory),
    PLAIN(cuMemFreeHost, step, free_memory),
    PLAIN(cuMemFreeAsync, step, other),
    PLAIN(cuMemFreeAsync_ptsz, step, other),
    // cuLaunchHostFunc_v2, likewise: its arguments begin as those of the first one.
    {831, CallKind::step, {Step::host_function, false, AT(cuLaunchHostFunc_params, hStream)}},
    {832, CallKind::step, {Step::host_function, true, AT(cuLaunchHostFunc_params, hStream)}},
    {ID(cuStreamCreate), CallKind::stream_made},
    {ID(cuStreamCreateWithPriority), CallKind::stream_made},
    {ID(cuStreamDestroy), CallKind::stream_gone},
    {ID(cuStreamDestroy_v2), CallKind::stream_gone},
    SYNC(cuMemcpyHtoD_v2),
    ASYNC(cuMemcpyHtoDAsync_v2),
    SYNC(cuMemcpyDtoH_v2),
    ASYNC(cuMemcpyDtoHAsync_v2),
    SYNC(cuMemcpyDtoD_v2),
    ASYNC(cuMemcpyDtoDAsync_v2),
    SYNC(cuMemcpy2D_v2),
    SYNC(cuMemcpy2DUnaligned_v2),
    ASYNC(cuMemcpy2DAsync_v2),
    SYNC(cuMemcpy3D_v2),
    ASYNC(cuMemcpy3DAsync_v2),
    SYNC(cuMemcpy),
    ASYNC(cuMemcpyAsync),
    SYNC(cuMemcpyPeer),
    ASYNC(cuMemcpyPeerAsync),
    SYNC(cuMemsetD8_v2),
    SYNC(cuMemsetD16_v2),
    SYNC(cuMemsetD32_v2),
    ASYNC(cuMemsetD8Async),
    ASYNC(cuMemsetD16Async),
    ASYNC(cuMemsetD32Async),
    SYNC(cuMemcpyHtoD_v2_ptds),
    SYNC(cuMemcpyDtoH_v2_ptds),
    SYNC(cuMemcpyDtoD_v2_ptds),
    ASYNC(cuMemcpyHtoDAsync_v2_ptsz),
    ASYNC(cuMemcpyDtoHAsync_v2_ptsz),
    ASYNC(cuMemcpyDtoDAsync_v2_ptsz),
    SYNC(cuMemcpy_ptds),
    ASYNC(cuMemcpyAsync_ptsz),
    SYNC(cuMemsetD8_v2_ptds),
    SYNC(cuMemsetD32_v2_ptds),
    ASYNC(cuMemsetD8Async_ptsz),
    ASYNC(cuMemsetD32Async_ptsz),
    ASYNC(cuMemsetD2D8Async),
    ASYNC(cuMemsetD2D16Async),
    ASYNC(cuMemsetD2D32Async),
    SYNC(cuMemsetD2D8_v2),
    SYNC(cuMemsetD2D16_v2),
    SYNC(cuMemsetD2D32_v2),
    SYNC(cuMemcpyAtoH_v2),
    ASYNC(cuMemcpyAtoHAsync_v2),
    SYNC(cuMemcpyAtoD_v2),
    SYNC(cuMemcpyDtoA_v2),
    SYNC(cuMemcpyAtoA_v2),
    SYNC(cuMemcpyHtoA_v2),
    ASYNC(cuMemcpyHtoAAsync_v2),
    SYNC(cuMemcpy3DPeer),
    ASYNC(cuMemcpy3DPeerAsync),
    SYNC(cuMemcpyDtoA_v2_ptds),
    SYNC(cuMemcpyAtoD_v2_ptds),
    SYNC(cuMemcpyHtoA_v2_ptds),
    SYNC(cuMemcpyAtoH_v2_ptds),
    SYNC(cuMemcpyAtoA_v2_ptds),
    SYNC(cuMemcpy2D_v2_ptds),
    SYNC(cuMemcpy2DUnaligned_v2_ptds),
    SYNC(cuMemcpy3D_v2_ptds),
    SYNC(cuMemcpyPeer_ptds),
    SYNC(cuMemcpy3DPeer_ptds),
    SYNC(cuMemsetD16_v2_ptds),
    SYNC(cuMemsetD2D8_v2_ptds),
    SYNC(cuMemsetD2D16_v2_ptds),
    SYNC(cuMemsetD2D32_v2_ptds),
    ASYNC(cuMemcpyHtoAAsync_v2_ptsz),
    ASYNC(cuMemcpyAtoHAsync_v2_ptsz),
    ASYNC(cuMemcpy2DAsync_v2_ptsz),
    ASYNC(cuMemcpy3DAsync_v2_ptsz),
    ASYNC(cuMemcpyPeerAsync_ptsz),
    ASYNC(cuMemcpy3DPeerAsync_ptsz),
    ASYNC(cuMemsetD16Async_ptsz),
    ASYNC(cuMemsetD2D8Async_ptsz),
    ASYNC(cuMemsetD2D16Async_ptsz),
    ASYNC(cuMemsetD2D32Async_ptsz),
    // By number: not all CUPTIs that we compile against have their names.
    {776, CallKind::copy},  // cuMemcpyBatchAsync
    {777, CallKind::copy},  // cuMemcpyBatchAsync_ptsz
    {778, CallKind::copy},  // cuMemcpy3DBatchAsync
    {779, CallKind::copy},  // cuMemcpy3DBatchAsync_ptsz
    {796, CallKind::copy},  // cuMemcpyBatchAsync_v2
    {797, CallKind::copy},  // cuMemcpyBatchAsync_v2_ptsz
    {798, CallKind::copy},  // cuMemcpy3DBatchAsync_v2
    {799, CallKind::copy},  // cuMemcpy3DBatchAsync_v2_ptsz
    {837, CallKind::copy},  // cuMemcpyWithAttributesAsync
    {838, CallKind::copy},  // cuMemcpyWithAttributesAsync_ptsz
    {839, CallKind::copy},  // cuMemcpy3DWithAttributesAsync
    {840, CallKind::copy},  // cuMemcpy3DWithAttributesAsync_ptsz
};

constexpr std::array<CallKind, kIds> make_table() {
  std::array<CallKind, kIds> table{};
  for (const auto& call : kCalls) table[call.id] = call.kind;
  return table;
}
constexpr auto kTable = make_table();

constexpr std::array<StepFacts, kIds> make_step_table() {
  std::array<StepFacts, kIds> table{};
  for (const auto& call : kCalls) table[call.id] = call.step;
  return table;
}
constexpr auto kSteps = make_step_table();

// An argument that is a handle.
std::uintptr_t handle_at(const void* params, std::uint8_t offset) {
  std::uintptr_t handle = 0;
  if (params != nullptr && offset != StepFacts::kNone)
    std::memcpy(&handle, static_cast<const char*>(params) + offset, sizeof handle);
  return handle;
}

const CUlaunchConfig* config_of(CUpti_CallbackId cbid, const void* params) {
  if (params == nullptr) return nullptr;
  if (cbid == ID(cuLaunchKernelEx))
    return static_cast<const cuLaunchKernelEx_params*>(params)->config;
  if (cbid == ID(cuLaunchKernelEx_ptsz))
    return static_cast<const cuLaunchKernelEx_ptsz_params*>(params)->config;
  return nullptr;
}

bool is_programmatic(const CUlaunchConfig& config) {
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const auto& attribute = config.attrs[i];
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION &&
        attribute.value.programmaticStreamSerializationAllowed != 0)
      return true;
  }
  return false;
}

void take_stream(std::uintptr_t handle, bool per_thread, StepCall& call) {
  const auto legacy = reinterpret_cast<std::uintptr_t>(CU_STREAM_LEGACY);
  const auto own = reinterpret_cast<std::uintptr_t>(CU_STREAM_PER_THREAD);
  if (handle == own || (handle == 0 && per_thread)) {
    call.stream = StepCall::kThreadsOwn | call.thread;
  } else {
    call.stream = handle == 0 ? legacy : handle;
    call.legacy = call.stream == legacy;
  }
}

template <typename Params>
void take_dims(const void* params, LaunchArguments& out) {
  const auto& p = *static_cast<const Params*>(params);
  out.function = p.f;
  out.grid = {p.gridDimX, p.gridDimY, p.gridDimZ};
  out.block = {p.blockDimX, p.blockDimY, p.blockDimZ};
  out.dynamic_shared = p.sharedMemBytes;
  out.stream = p.hStream;
}

template <typename Params>
void take_config(const void* params, LaunchArguments& out) {
  const auto& p = *static_cast<const Params*>(params);
  out.function = p.f;
  if (p.config == nullptr) return;
  const CUlaunchConfig& c = *p.config;
  out.grid = {c.gridDimX, c.gridDimY, c.gridDimZ};
  out.block = {c.blockDimX, c.blockDimY, c.blockDimZ};
  out.dynamic_shared = c.sharedMemBytes;
  out.stream = c.hStream;
  for (unsigned i = 0; i < c.numAttrs; ++i) {
    if (c.attrs[i].id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) continue;
    const auto& cluster = c.attrs[i].value.clusterDim;
    out.cluster = {cluster.x, cluster.y, cluster.z};
  }
}

}  // namespace

CallKind kind_of(CUpti_CallbackId cbid) { return cbid < kIds ? kTable[cbid] : CallKind::none; }

std::vector<CUpti_CallbackId> watched_calls() {
  std::vector<CUpti_CallbackId> ids;
  for (const auto& call : kCalls) ids.push_back(call.id);
  return ids;
}

std::vector<CUpti_CallbackIdResource> watched_resources(bool graphs) {
  std::vector<CUpti_CallbackIdResource> ids = {CUPTI_CBID_RESOURCE_CONTEXT_CREATED,
                                               CUPTI_CBID_RESOURCE_MODULE_LOADED};
  if (graphs) {
    ids.insert(
        ids.end(),
        {CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED,
         CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING, CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATE_STARTING,
         CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED, CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING});
  }
  return ids;
}

// In all of these calls the graph is the first argument, under more than one name.
const void* launched_graph(const void* params) {
  return params == nullptr ? nullptr : *static_cast<void* const*>(params);
}

const void* launched_stream(const void* params) {
  return params == nullptr ? nullptr : static_cast<const cuGraphLaunch_params*>(params)->hStream;
}

bool decode_launch(CUpti_CallbackId cbid, const void* params, LaunchArguments& out) {
  if (params == nullptr) return false;
  switch (cbid) {
    case ID(cuLaunchKernel):
      take_dims<cuLaunchKernel_params>(params, out);
      return true;
    case ID(cuLaunchKernel_ptsz):
      take_dims<cuLaunchKernel_ptsz_params>(params, out);
      return true;
    case ID(cuLaunchCooperativeKernel):
      take_dims<cuLaunchCooperativeKernel_params>(params, out);
      return true;
    case ID(cuLaunchCooperativeKernel_ptsz):
      take_dims<cuLaunchCooperativeKernel_ptsz_params>(params, out);
      return true;
    case ID(cuLaunchKernelEx):
      take_config<cuLaunchKernelEx_params>(params, out);
      return true;
    case ID(cuLaunchKernelEx_ptsz):
      take_config<cuLaunchKernelEx_ptsz_params>(params, out);
      return true;
    // The block's shape was set on the function before; only the record knows it.
    case ID(cuLaunch): {
      out.function = static_cast<const cuLaunch_params*>(params)->f;
      return true;
    }
    case ID(cuLaunchGrid): {
      const auto& p = *static_cast<const cuLaunchGrid_params*>(params);
      out.function = p.f;
      out.grid = {static_cast<std::uint32_t>(p.grid_width),
                  static_cast<std::uint32_t>(p.grid_height), 1};
      return true;
    }
    case ID(cuLaunchGridAsync): {
      const auto& p = *static_cast<const cuLaunchGridAsync_params*>(params);
      out.function = p.f;
      out.grid = {static_cast<std::uint32_t>(p.grid_width),
                  static_cast<std::uint32_t>(p.grid_height), 1};
      out.stream = p.hStream;
      return true;
    }
    default:
      return false;
  }
}

void decode_step_call(CUpti_CallbackId cbid, const CUpti_CallbackData& data, StepCall& call) {
  const StepFacts facts = cbid < kIds ? kSteps[cbid] : StepFacts{};
  call.kind = facts.kind;
  call.copy = kind_of(cbid) == CallKind::copy;
  call.context = data.contextUid;
  call.correlation = data.correlationId;
  const auto* answer = static_cast<const CUresult*>(data.functionReturnValue);
  if (answer != nullptr && *answer != CUDA_SUCCESS) {
    const bool asked = facts.kind == Step::query_succeeded && *answer == CUDA_ERROR_NOT_READY;
    call.kind = asked ? Step::query_not_ready : Step::other;
  }
  call.object = handle_at(data.functionParams, facts.object);
  if (facts.kind == Step::graph_launch)
    call.object = reinterpret_cast<std::uintptr_t>(launched_graph(data.functionParams));
  std::uintptr_t stream = handle_at(data.functionParams, facts.stream);
  if (const auto* config = config_of(cbid, data.functionParams)) {
    stream = reinterpret_cast<std::uintptr_t>(config->hStream);
    call.programmatic = is_programmatic(*config);
  }
  const bool on_none = facts.kind == Step::event_synchronize ||
                       facts.kind == Step::context_synchronize || facts.kind == Step::free_memory ||
                       facts.kind == Step::other ||
                       (facts.kind == Step::query_succeeded && facts.stream == StepFacts::kNone);
  if (!on_none) take_stream(stream, facts.per_thread, call);
}

StreamMade decode_stream_made(CUpti_CallbackId cbid, const void* params) {
  if (params == nullptr) return {};
  const auto of = [](const auto& p) -> StreamMade {
    if (p.phStream == nullptr) return {};
    return {reinterpret_cast<std::uintptr_t>(*p.phStream), (p.Flags & CU_STREAM_NON_BLOCKING) != 0};
  };
  if (cbid == ID(cuStreamCreate)) return of(*static_cast<const cuStreamCreate_params*>(params));
  if (cbid == ID(cuStreamCreateWithPriority)) {
    const auto& p = *static_cast<const cuStreamCreateWithPriority_params*>(params);
    if (p.phStream == nullptr) return {};
    return {reinterpret_cast<std::uintptr_t>(*p.phStream), (p.flags & CU_STREAM_NON_BLOCKING) != 0};
  }
  return {};
}

std::uint64_t destroyed_stream(const void* params) { return handle_at(params, 0); }

bool succeeded(const CUpti_CallbackData& data) {
  return data.functionReturnValue == nullptr ||
         *static_cast<const CUresult*>(data.functionReturnValue) == CUDA_SUCCESS;
}

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
#include "collector/cupti/launch_calls.h"

#include <array>

namespace gable {
namespace {

constexpr std::size_t kIds = 1024;  // driver callback ids are below 1,000 in CUPTI 13

struct Named {
  CUpti_CallbackId id;
  CallKind kind;
};

#define ID(name) CUPTI_DRIVER_TRACE_CBID_##name
constexpr Named kCalls[] = {
    {ID(cuLaunch), CallKind::launch},
    {ID(cuLaunchGrid), CallKind::launch},
    {ID(cuLaunchGridAsync), CallKind::launch},
    {ID(cuLaunchKernel), CallKind::launch},
    {ID(cuLaunchKernel_ptsz), CallKind::launch},
    {ID(cuLaunchKernelEx), CallKind::launch},
    {ID(cuLaunchKernelEx_ptsz), CallKind::launch},
    {ID(cuLaunchCooperativeKernel), CallKind::launch},
    {ID(cuLaunchCooperativeKernel_ptsz), CallKind::launch},
    {ID(cuGraphLaunch), CallKind::graph_launch},
    {ID(cuGraphLaunch_ptsz), CallKind::graph_launch},
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
    {ID(cuCtxSynchronize), CallKind::wait},
    {ID(cuStreamSynchronize), CallKind::wait},
    {ID(cuStreamSynchronize_ptsz), CallKind::wait},
    {ID(cuEventSynchronize), CallKind::wait},
    {800, CallKind::wait},  // cuCtxSynchronize_v2: not all CUPTIs that we compile against name it
    {ID(cuMemcpyHtoD_v2), CallKind::copy},
    {ID(cuMemcpyHtoDAsync_v2), CallKind::copy},
    {ID(cuMemcpyDtoH_v2), CallKind::copy},
    {ID(cuMemcpyDtoHAsync_v2), CallKind::copy},
    {ID(cuMemcpyDtoD_v2), CallKind::copy},
    {ID(cuMemcpyDtoDAsync_v2), CallKind::copy},
    {ID(cuMemcpy2D_v2), CallKind::copy},
    {ID(cuMemcpy2DUnaligned_v2), CallKind::copy},
    {ID(cuMemcpy2DAsync_v2), CallKind::copy},
    {ID(cuMemcpy3D_v2), CallKind::copy},
    {ID(cuMemcpy3DAsync_v2), CallKind::copy},
    {ID(cuMemcpy), CallKind::copy},
    {ID(cuMemcpyAsync), CallKind::copy},
    {ID(cuMemcpyPeer), CallKind::copy},
    {ID(cuMemcpyPeerAsync), CallKind::copy},
    {ID(cuMemsetD8_v2), CallKind::copy},
    {ID(cuMemsetD16_v2), CallKind::copy},
    {ID(cuMemsetD32_v2), CallKind::copy},
    {ID(cuMemsetD8Async), CallKind::copy},
    {ID(cuMemsetD16Async), CallKind::copy},
    {ID(cuMemsetD32Async), CallKind::copy},
    {ID(cuMemcpyHtoD_v2_ptds), CallKind::copy},
    {ID(cuMemcpyDtoH_v2_ptds), CallKind::copy},
    {ID(cuMemcpyDtoD_v2_ptds), CallKind::copy},
    {ID(cuMemcpyHtoDAsync_v2_ptsz), CallKind::copy},
    {ID(cuMemcpyDtoHAsync_v2_ptsz), CallKind::copy},
    {ID(cuMemcpyDtoDAsync_v2_ptsz), CallKind::copy},
    {ID(cuMemcpy_ptds), CallKind::copy},
    {ID(cuMemcpyAsync_ptsz), CallKind::copy},
    {ID(cuMemsetD8_v2_ptds), CallKind::copy},
    {ID(cuMemsetD32_v2_ptds), CallKind::copy},
    {ID(cuMemsetD8Async_ptsz), CallKind::copy},
    {ID(cuMemsetD32Async_ptsz), CallKind::copy},
    {ID(cuMemsetD2D8Async), CallKind::copy},
    {ID(cuMemsetD2D16Async), CallKind::copy},
    {ID(cuMemsetD2D32Async), CallKind::copy},
    {ID(cuMemsetD2D8_v2), CallKind::copy},
    {ID(cuMemsetD2D16_v2), CallKind::copy},
    {ID(cuMemsetD2D32_v2), CallKind::copy},
    {ID(cuMemcpyAtoH_v2), CallKind::copy},
    {ID(cuMemcpyAtoHAsync_v2), CallKind::copy},
    {ID(cuMemcpyAtoD_v2), CallKind::copy},
    {ID(cuMemcpyDtoA_v2), CallKind::copy},
    {ID(cuMemcpyAtoA_v2), CallKind::copy},
    {ID(cuMemcpyHtoA_v2), CallKind::copy},
    {ID(cuMemcpyHtoAAsync_v2), CallKind::copy},
    {ID(cuMemcpy3DPeer), CallKind::copy},
    {ID(cuMemcpy3DPeerAsync), CallKind::copy},
    {ID(cuMemcpyDtoA_v2_ptds), CallKind::copy},
    {ID(cuMemcpyAtoD_v2_ptds), CallKind::copy},
    {ID(cuMemcpyHtoA_v2_ptds), CallKind::copy},
    {ID(cuMemcpyAtoH_v2_ptds), CallKind::copy},
    {ID(cuMemcpyAtoA_v2_ptds), CallKind::copy},
    {ID(cuMemcpy2D_v2_ptds), CallKind::copy},
    {ID(cuMemcpy2DUnaligned_v2_ptds), CallKind::copy},
    {ID(cuMemcpy3D_v2_ptds), CallKind::copy},
    {ID(cuMemcpyPeer_ptds), CallKind::copy},
    {ID(cuMemcpy3DPeer_ptds), CallKind::copy},
    {ID(cuMemsetD16_v2_ptds), CallKind::copy},
    {ID(cuMemsetD2D8_v2_ptds), CallKind::copy},
    {ID(cuMemsetD2D16_v2_ptds), CallKind::copy},
    {ID(cuMemsetD2D32_v2_ptds), CallKind::copy},
    {ID(cuMemcpyHtoAAsync_v2_ptsz), CallKind::copy},
    {ID(cuMemcpyAtoHAsync_v2_ptsz), CallKind::copy},
    {ID(cuMemcpy2DAsync_v2_ptsz), CallKind::copy},
    {ID(cuMemcpy3DAsync_v2_ptsz), CallKind::copy},
    {ID(cuMemcpyPeerAsync_ptsz), CallKind::copy},
    {ID(cuMemcpy3DPeerAsync_ptsz), CallKind::copy},
    {ID(cuMemsetD16Async_ptsz), CallKind::copy},
    {ID(cuMemsetD2D8Async_ptsz), CallKind::copy},
    {ID(cuMemsetD2D16Async_ptsz), CallKind::copy},
    {ID(cuMemsetD2D32Async_ptsz), CallKind::copy},
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

bool succeeded(const CUpti_CallbackData& data) {
  return data.functionReturnValue == nullptr ||
         *static_cast<const CUresult*>(data.functionReturnValue) == CUDA_SUCCESS;
}

}  // namespace gable

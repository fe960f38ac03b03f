// SPDX-License-Identifier: Apache-2.0
// The player's launches, graphs and copies.
#include "tools/playback/driver/side.h"
#include "tools/playback/player/player.h"

namespace gable::playback {

void Performer::launch(const RecordedOp& op) {
  PlayedContext& context = enter_context(op);
  const RecordedKernel& kernel = recording_.kernels[op.kernel];
  CUfunction& function = context.functions[op.kernel];
  if (function == nullptr) {
    check(cuModuleGetFunction(&function, context.module, kernel.name.c_str()), op,
          "cuModuleGetFunction");
  }
  NextLaunch next;
  next.kernel = &kernel;
  next.counters = op.counters.get();
  next.time_ns = op.time_ns;
  next.scale = op.scale;
  next.host_ns = op.host_ns;
  CUstream where = stream(context, op.stream);
  gable_playback_next_launch(&next);
  const Dim3 &g = kernel.grid, &b = kernel.block, &c = kernel.cluster;
  CUresult result = CUDA_SUCCESS;
  if (op.api == LaunchApi::kernel_ex || c.count() != 1) {
    CUlaunchAttribute cluster{};
    cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    cluster.value.clusterDim.x = c.x;
    cluster.value.clusterDim.y = c.y;
    cluster.value.clusterDim.z = c.z;
    CUlaunchConfig config{};
    config.gridDimX = g.x;
    config.gridDimY = g.y;
    config.gridDimZ = g.z;
    config.blockDimX = b.x;
    config.blockDimY = b.y;
    config.blockDimZ = b.z;
    config.sharedMemBytes = kernel.dynamic_shared;
    config.hStream = where;
    if (c.count() != 1) {
      config.attrs = &cluster;
      config.numAttrs = 1;
    }
    result = (op.per_thread ? cuLaunchKernelEx_ptsz : cuLaunchKernelEx)(&config, function, nullptr,
                                                                        nullptr);
  } else if (op.api == LaunchApi::cooperative) {
    result = (op.per_thread ? cuLaunchCooperativeKernel_ptsz : cuLaunchCooperativeKernel)(
        function, g.x, g.y, g.z, b.x, b.y, b.z, kernel.dynamic_shared, where, nullptr);
  } else {
    result = (op.per_thread ? cuLaunchKernel_ptsz : cuLaunchKernel)(
        function, g.x, g.y, g.z, b.x, b.y, b.z, kernel.dynamic_shared, where, nullptr, nullptr);
  }
  check(result, op, "the launch");
}

void Performer::graph_launch(const RecordedOp& op) {
  PlayedContext& context = enter_context(op);
  CUgraphExec exec = nullptr;
  if (op.kernels.empty()) {
    const auto it = graphs_.find(op.id);
    if (it != graphs_.end()) exec = it->second;
  } else {
    CUgraphExec& made = line_graphs_[op.line];
    if (made == nullptr) {
      std::vector<const RecordedKernel*> kernels;
      for (const std::uint32_t index : op.kernels) kernels.push_back(&recording_.kernels[index]);
      made = gable_playback_graph(&kernels, &op.time_ns);
    }
    exec = made;
  }
  NextLaunch next;
  next.host_ns = op.host_ns;
  CUstream where = stream(context, op.stream);
  gable_playback_next_launch(&next);
  check(cuGraphLaunch(exec, where), op, "cuGraphLaunch");
}

void Performer::copy(const RecordedOp& op) {
  CUstream where = stream(enter_context(op), op.stream);
  NextLaunch next;
  next.time_ns = op.time_ns;
  next.host_ns = op.host_ns;
  next.host = op.host;
  gable_playback_next_launch(&next);
  const std::size_t bytes = op.amount;
  CUresult result = CUDA_SUCCESS;
  if (op.copy == CopyKind::host_to_device) {
    result = cuMemcpyHtoDAsync(0, nullptr, bytes, where);
  } else if (op.copy == CopyKind::device_to_host) {
    result = cuMemcpyDtoHAsync(nullptr, 0, bytes, where);
  } else if (op.copy == CopyKind::device_to_device) {
    result = cuMemcpyDtoDAsync(0, 0, bytes, where);
  } else {
    result = cuMemsetD8Async(0, 0, bytes, where);
  }
  check(result, op, "the copy");
}

void Performer::capture_end(const RecordedOp& op) {
  CUgraph graph = nullptr;
  check(cuStreamEndCapture(stream(enter_context(op), op.stream), &graph), op, "cuStreamEndCapture");
  CUgraphExec* exec = op.id != 0 ? &graphs_[op.id] : nullptr;
  if (exec != nullptr && op.update) {
    CUgraphExecUpdateResultInfo info{};
    check(cuGraphExecUpdate(*exec, graph, &info), op, "cuGraphExecUpdate");
  } else if (exec != nullptr) {
    if (*exec != nullptr) check(cuGraphExecDestroy(*exec), op, "cuGraphExecDestroy");
    check(cuGraphInstantiate(exec, graph, 0), op, "cuGraphInstantiate");
  }
  check(cuGraphDestroy(graph), op, "cuGraphDestroy");
}

}  // namespace gable::playback

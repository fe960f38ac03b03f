// SPDX-License-Identifier: Apache-2.0
// Calls of the runtime and the driver, as PyTorch's profiler and nsys name them.
#include "tools/calls/call_names.h"

#include <gtest/gtest.h>

namespace gable {
namespace {

TEST(CallNames, TellWhatACallDoes) {
  const std::pair<const char*, CallName> rows[] = {
      {"cudaLaunchKernel", CallName::launch},
      {"cudaLaunchKernelExC_v11060", CallName::launch},
      {"cudaLaunchCooperativeKernel", CallName::launch},
      {"cuLaunchKernelEx", CallName::launch},
      {"cudaLaunchKernel_ptsz_v7000", CallName::launch},
      {"cudaLaunch_v3020", CallName::launch},
      {"cudaLaunchHostFunc", CallName::other},
      {"cudaGraphLaunch_v10000", CallName::graph_launch},
      {"cuGraphLaunch", CallName::graph_launch},
      {"cudaMemcpyAsync_v3020", CallName::copy},
      {"cuMemcpyHtoD_v2", CallName::copy},
      {"cudaMemset", CallName::copy},
      {"cudaEventRecord_v3020", CallName::event_record},
      {"cudaEventRecordWithFlags_v11010", CallName::event_record},
      {"cudaStreamWaitEvent", CallName::stream_wait},
      {"cudaStreamSynchronize_ptsz", CallName::stream_synchronize},
      {"cudaEventSynchronize", CallName::event_synchronize},
      {"cudaDeviceSynchronize", CallName::context_synchronize},
      {"cuCtxSynchronize", CallName::context_synchronize},
      {"cudaFree", CallName::free_memory},
      {"cuMemFree_v2", CallName::free_memory},
      {"cudaFreeAsync_v11020", CallName::other},
      {"cudaStreamBeginCapture_v10000", CallName::begin_capture},
      {"cudaStreamEndCapture", CallName::end_capture},
      {"hipLaunchKernel", CallName::launch},
      {"hipExtModuleLaunchKernel", CallName::launch},
      {"hipDeviceSynchronize", CallName::context_synchronize},
      {"hipMemcpyWithStream", CallName::copy},
      {"hipGraphLaunch", CallName::graph_launch},
      {"cudaEventQuery", CallName::other},
      {"cudaStreamIsCapturing", CallName::other},
      {"Lazy Function Loading", CallName::other},
      {"", CallName::other},
  };
  for (const auto& [name, what] : rows) EXPECT_EQ(named_call(name).what, what) << name;
}

TEST(CallNames, TellWhetherACopyIsAsynchronous) {
  EXPECT_TRUE(named_call("cudaMemcpyAsync_v3020").asynchronous);
  EXPECT_TRUE(named_call("cuMemcpyHtoDAsync_v2").asynchronous);
  EXPECT_FALSE(named_call("cudaMemcpy_v3020").asynchronous);
}

TEST(CallNames, CopiesAreNoSynchronisingCalls) {
  EXPECT_TRUE(synchronises(named_call("cudaDeviceSynchronize").what));
  EXPECT_TRUE(synchronises(named_call("cudaEventSynchronize").what));
  EXPECT_TRUE(synchronises(named_call("cudaStreamSynchronize").what));
  EXPECT_FALSE(synchronises(named_call("cudaMemcpy").what));
  EXPECT_FALSE(synchronises(named_call("cudaStreamWaitEvent").what));
  EXPECT_FALSE(synchronises(named_call("cudaFree").what));
}

}  // namespace
}  // namespace gable

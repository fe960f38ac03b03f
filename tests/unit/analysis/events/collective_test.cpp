// SPDX-License-Identifier: Apache-2.0
#include "analysis/events/collective.h"

#include <gtest/gtest.h>

#include <tuple>

namespace gable::tests {
namespace {

TEST(Collectives, NamesOfPyTorchAndNccl) {
  using enum Collective;
  for (const auto& [name, kind] : {
           std::pair("allreduce", all_reduce),
           {"allreduce_coalesced", all_reduce},
           {"_allgather_base", all_gather},
           {"all_gather_into_tensor_coalesced", all_gather},
           {"_reduce_scatter_base", reduce_scatter},
           {"reduce_scatter_tensor_coalesced", reduce_scatter},
           {"all_to_all", all_to_all},
           {"all_to_allv", all_to_all},
           {"broadcast", broadcast},
           {"reduce", reduce},
           {"send", send_receive},
           {"recv 0<-1", send_receive},
           {"ncclSendRecv", send_receive},
           {"isend", send_receive},
           {"ncclAllReduce", all_reduce},
           {"ncclReduceScatter", reduce_scatter},
           {"ncclAlltoAll", all_to_all},
           {"ncclBcast", broadcast},
           {"gather", unknown},
           {"scatter", unknown},
           {"barrier", unknown},
           {"wait", unknown},
           {"", unknown},
       })
    EXPECT_EQ(collective_named(name), kind) << name;
}

// The factors of nccl-tests, doc/PERFORMANCE.md.
TEST(Collectives, BytesOnTheBus) {
  const auto bytes = [](Collective kind, std::uint32_t ranks, std::optional<std::uint64_t> size) {
    CollectiveCall call;
    call.kind = kind;
    call.ranks = ranks;
    call.bytes = size;
    return bus_bytes(call);
  };
  using enum Collective;
  EXPECT_EQ(bytes(all_reduce, 8, 1000), 1750);
  EXPECT_EQ(bytes(all_gather, 8, 1000), 875);
  EXPECT_EQ(bytes(reduce_scatter, 4, 1000), 750);
  EXPECT_EQ(bytes(all_to_all, 2, 1000), 500);
  EXPECT_EQ(bytes(broadcast, 8, 1000), 1000);
  EXPECT_EQ(bytes(reduce, 8, 1000), 1000);
  EXPECT_EQ(bytes(send_receive, 0, 1000), 1000);
  EXPECT_EQ(bytes(all_reduce, 1, 1000), 0);
  EXPECT_FALSE(bytes(all_reduce, 0, 1000)) << "of how many ranks is not known";
  EXPECT_FALSE(bytes(all_to_all, 0, 1000));
  EXPECT_FALSE(bytes(all_reduce, 8, std::nullopt));
  EXPECT_FALSE(bytes(unknown, 8, 1000));
}

TEST(Collectives, KernelsThatExchangeData) {
  for (const char* name : {
           "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
           "ncclKernel_Broadcast",
           "_Z35ncclDevKernel_AllReduce_Sum_f32_RINGv",
           "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>",
           "nvshmemi_transfer_rma_nbi",
           "void c10d::symmetric_memory::multimem_all_reduce_kernel<c10::BFloat16>",
           "allreduce_fusion_kernel_oneshot_lamport",
           "void deep_ep::intranode::dispatch<8, 1024>",
           "_ZN7deep_ep9internode7combineEv",
           "_Z123456nccl",  // the last place of it in a mangled name
           "one_shot_all_reduce_kernel",
           "two_shot_all_reduce_kernel",
           "multimem_all_gather_kernel",
           "mscclpp::allreduce",
       })
    EXPECT_TRUE(is_collective(name)) << name;
  for (const char* name : {
           "my_nccl_wrapper",
           "_Z1234567nccl",  // further in than the beginning of a mangled name
           "nvshmen",
           "void deep_ep::prepare<8>",
           "ncc",
           "void at::native::reduce_kernel<512, 1>",
           "void deep_ep::layout::get_dispatch_layout<256>",
           "",
       })
    EXPECT_FALSE(is_collective(name)) << name;
}

}  // namespace
}  // namespace gable::tests

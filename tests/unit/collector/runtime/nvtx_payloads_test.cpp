// SPDX-License-Identifier: Apache-2.0
// NVTX's payload extension as NCCL uses it: what the functions in its places make of ranges.
#define NVTX_NO_IMPL
#include <gtest/gtest.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCuda.h>
#include <nvtx3/nvToolsExtCudaRt.h>
#undef NVTX_NO_IMPL

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "collector/layers/thread_state.h"
#include "collector/runtime/nvtx_entry.h"
#include "collector/runtime/nvtx_schemas.h"
#include "collector/runtime/range_calls.h"
#include "collector/runtime/runtime.h"

namespace gable {
namespace {

// As nvtxExtTypes.h has them.
struct Segment {
  std::size_t id, slot_count;
  std::intptr_t* slots;
};
struct Module {
  std::uint16_t nvtx_version, struct_size, module, compatibility;
  std::size_t segment_count;
  Segment* segments;
};

class NvtxModule : public testing::Test {
 protected:
  std::array<std::intptr_t, 8> slots{};
  Segment segment{0, 8, slots.data()};
  Module module{3, sizeof(Module), 2, 0, 1, &segment};
  [[nodiscard]] std::string filled() const {
    std::string text;
    for (const auto slot : slots) text += slot != 0 ? 'x' : '.';
    return text;
  }
};

TEST_F(NvtxModule, FillsThePlacesOfRangesAndSchemas) {
  EXPECT_TRUE(attach_nvtx_payloads(&module));
  EXPECT_EQ(filled(), "x..xxxx.");
}

TEST_F(NvtxModule, AShorterOneGetsWhatItHasPlacesFor) {
  segment.slot_count = 4;
  EXPECT_TRUE(attach_nvtx_payloads(&module));
  EXPECT_EQ(filled(), "x..x....");
}

TEST_F(NvtxModule, AnotherExtensionIsLeftAlone) {
  EXPECT_FALSE(attach_nvtx_payloads(nullptr));
  for (const std::uint16_t other : {1, 3, 20}) {
    module.module = other;
    EXPECT_FALSE(attach_nvtx_payloads(&module)) << other;
  }
  EXPECT_EQ(filled(), "........");
}

TEST_F(NvtxModule, ADamagedOneIsLeftAlone) {
  module.struct_size = sizeof(Module) - 1;
  EXPECT_FALSE(attach_nvtx_payloads(&module));
  module.struct_size = sizeof(Module) + 8;
  module.segment_count = 0;
  EXPECT_FALSE(attach_nvtx_payloads(&module));
  module.segment_count = 1;
  module.segments = nullptr;
  EXPECT_FALSE(attach_nvtx_payloads(&module));
  module.segments = &segment;
  segment.slots = nullptr;
  EXPECT_FALSE(attach_nvtx_payloads(&module));
  segment.slots = slots.data();
  EXPECT_EQ(filled(), "........");
  EXPECT_TRUE(attach_nvtx_payloads(&module)) << "a later one may be longer";
}

NvtxFunctionPointer g_functions[NVTX_CBID_CORE2_SIZE];
NvtxFunctionPointer* g_table[NVTX_CBID_CORE2_SIZE];
int NVTX_API payload_functions(NvtxCallbackModule module, NvtxFunctionTable* out, unsigned* size) {
  if (module != NVTX_CB_MODULE_CORE2) return 0;
  for (std::size_t i = 0; i < NVTX_CBID_CORE2_SIZE; ++i) g_table[i] = &g_functions[i];
  *out = g_table;
  *size = NVTX_CBID_CORE2_SIZE;
  return 1;
}
constexpr NvtxExportTableCallbacks kCallbacks{sizeof kCallbacks, payload_functions};
const void* payload_exports(std::uint32_t) { return &kCallbacks; }

struct MadeOne {
  std::uint64_t communicator;
  std::int32_t ranks;
};
struct Message {
  std::uint64_t communicator;
  std::size_t bytes;
};

class NvtxPayloads : public NvtxModule {
 protected:
  using Handle = nvtxDomainHandle_t;
  static constexpr std::uint64_t kInit = 77, kReduce = 78;

  NvtxPayloads() {
    this_thread().ranges = {};
    attach_nvtx(payload_exports);
    attach_nvtx_payloads(&module);
    nccl = domain("NCCL");
    const NvtxPayloadEntry made[] = {
        entry(18, "NCCL communicator ID", offsetof(MadeOne, communicator)),
        entry(5, "No. of ranks", offsetof(MadeOne, ranks))};
    const NvtxPayloadEntry reduce[] = {
        entry(18, "NCCL communicator ID", offsetof(Message, communicator)),
        entry(22, "Message size [bytes]", offsetof(Message, bytes))};
    EXPECT_EQ(add_schema(made, kInit), kInit);
    EXPECT_EQ(add_schema(reduce, kReduce), kReduce);
  }
  ~NvtxPayloads() override { this_thread().ranges = {}; }

  static NvtxPayloadEntry entry(std::uint64_t type, const char* name, std::size_t offset) {
    NvtxPayloadEntry made{};
    made.type = type;
    made.name = name;
    made.offset = offset;
    return made;
  }
  template <typename Function>
  Function slot(std::size_t id) const {
    return reinterpret_cast<Function>(slots.at(id));
  }
  static Handle domain(const char* name) {
    return reinterpret_cast<Handle (*)(const char*)>(g_functions[NVTX_CBID_CORE2_DomainCreateA])(
        name);
  }
  std::uint64_t add_schema(const NvtxPayloadEntry (&entries)[2], std::uint64_t id) {
    NvtxPayloadSchema schema{};
    schema.fields = 1u << 4 | 1u << 5 | 1u << 8;
    schema.entries = entries;
    schema.entry_count = 2;
    schema.id = id;
    return slot<std::uint64_t (*)(Handle, const NvtxPayloadSchema*)>(0)(nccl, &schema);
  }
  // A range with such a payload, as NVTX's C++ header hands it over.
  static nvtxEventAttributes_t with(const char* text, const NvtxPayload* told) {
    nvtxEventAttributes_t made{};
    made.version = NVTX_VERSION;
    made.size = sizeof made;
    made.messageType = NVTX_MESSAGE_TYPE_ASCII;
    made.message.ascii = text;
    made.payloadType = static_cast<std::int32_t>(0xDFBD0009);
    made.reserved0 = 1;
    made.payload.ullValue = reinterpret_cast<std::uintptr_t>(told);
    return made;
  }
  static int push(Handle handle, const nvtxEventAttributes_t* what) {
    return reinterpret_cast<int (*)(Handle, const nvtxEventAttributes_t*)>(
        g_functions[NVTX_CBID_CORE2_DomainRangePushEx])(handle, what);
  }
  static int pop(Handle handle) {
    return reinterpret_cast<int (*)(Handle)>(g_functions[NVTX_CBID_CORE2_DomainRangePop])(handle);
  }
  int pop_with(Handle handle, const NvtxPayload* told, std::size_t count) const {
    return slot<int (*)(Handle, const NvtxPayload*, std::size_t)>(4)(handle, told, count);
  }
  void make_communicator(std::uint64_t communicator, std::int32_t ranks) {
    const MadeOne one{communicator, ranks};
    const NvtxPayload made{kInit, sizeof one, &one};
    const auto what = with("ncclCommInitRank", &made);
    push(nccl, &what);
    pop(nccl);
  }
  // Of a collective that launches now; 0 where none is known.
  std::uint64_t bytes_of(const nvtxEventAttributes_t& what) const {
    push(nccl, &what);
    const auto said = this_thread().ranges.collectives.take();
    pop(nccl);
    return said ? said->bytes : 0;
  }
  static std::string layer() {
    bool inherited = false;
    return runtime().layers.shown(layer_of_launch(runtime(), this_thread(), inherited));
  }
  Handle nccl = nullptr;
  const Message message{5, 1000};
  const NvtxPayload payload{kReduce, sizeof message, &message};
};

TEST_F(NvtxPayloads, ACollectiveIsOfItsCommunicatorsRanks) {
  make_communicator(5, 8);
  const auto what = with("ncclAllReduce", &payload);
  EXPECT_EQ(push(nccl, &what), 0);
  EXPECT_TRUE(this_thread().ranges.collectives.any());
  const auto said = this_thread().ranges.collectives.take();
  ASSERT_TRUE(said);
  EXPECT_EQ(said->kind, Collective::all_reduce);
  EXPECT_EQ(said->bytes, 1000u);
  EXPECT_EQ(said->ranks, 8u);
  EXPECT_EQ(layer(), "NCCL:ncclAllReduce");
  EXPECT_EQ(pop(nccl), 0);
  EXPECT_FALSE(this_thread().ranges.collectives.any());
}

TEST_F(NvtxPayloads, AMessageIsNotTakenForANewCommunicator) {
  make_communicator(5, 8);
  bytes_of(with("ncclAllReduce", &payload));
  const auto what = with("ncclAllGather", &payload);
  EXPECT_EQ(bytes_of(what), 8000u);
}

TEST_F(NvtxPayloads, WhatIsNoPayloadSaysNothing) {
  auto what = with("ncclAllReduce", &payload);
  EXPECT_EQ(bytes_of(what), 1000u);
  what.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
  EXPECT_EQ(bytes_of(what), 0u);
  what = with("ncclAllReduce", &payload);
  what.reserved0 = 0;
  EXPECT_EQ(bytes_of(what), 0u);
  EXPECT_EQ(bytes_of(with("ncclAllReduce", nullptr)), 0u);
  EXPECT_EQ(push(nccl, nullptr), 0);
  EXPECT_TRUE(this_thread().ranges.collectives.any()) << "a range of NCCL's all the same";
  pop(nccl);
}

TEST_F(NvtxPayloads, OnlyTheDomainNcclSpeaksOfCollectives) {
  const auto what = with("ncclAllReduce", &payload);
  for (const auto other : {domain("Others"), Handle{nullptr}}) {
    push(other, &what);
    EXPECT_FALSE(this_thread().ranges.collectives.any());
    push(nccl, &what);
    pop(other);
    EXPECT_TRUE(this_thread().ranges.collectives.any()) << "NCCL's is still open";
    pop(nccl);
  }
}

TEST_F(NvtxPayloads, ALaterPayloadNamesTheCommunicatorToo) {
  const MadeOne one{6, 4};
  const NvtxPayload made{kInit, sizeof one, &one};
  const Message sent{6, 1000};
  const NvtxPayload its{kReduce, sizeof sent, &sent};
  const auto what = with("ncclAllGather", &its);
  const auto init = with("ncclCommInitRank", nullptr);
  push(nccl, &init);
  EXPECT_EQ(pop_with(nccl, &made, 0), 0);
  push(nccl, &init);
  EXPECT_EQ(pop_with(nccl, nullptr, 1), 0);
  const auto others = domain("Others");
  push(others, &init);
  EXPECT_EQ(pop_with(others, &made, 1), 0);
  push(nccl, &what);
  EXPECT_EQ(this_thread().ranges.collectives.take()->ranks, 0u) << "nobody told of it yet";
  pop(nccl);
  push(nccl, &init);
  EXPECT_EQ(pop_with(nccl, &made, 1), 0);
  EXPECT_FALSE(this_thread().ranges.collectives.any());
  EXPECT_EQ(bytes_of(what), 4000u);
}

TEST_F(NvtxPayloads, RangesWithPayloadsAloneHaveNoName) {
  const auto others = domain("Others");
  EXPECT_EQ((slot<int (*)(Handle, const NvtxPayload*, std::size_t)>(3)(others, &payload, 1)), 0);
  EXPECT_EQ(layer(), "Others:(unnamed)");
  EXPECT_EQ(pop_with(others, nullptr, 0), 0);
  const auto id =
      slot<std::uint64_t (*)(Handle, const NvtxPayload*, std::size_t)>(5)(others, &payload, 1);
  EXPECT_NE(id, 0u);
  EXPECT_EQ(layer(), "Others:(unnamed)");
  slot<void (*)(Handle, std::uint64_t, const NvtxPayload*, std::size_t)>(6)(others, id, &payload,
                                                                            1);
  EXPECT_EQ(layer(), "(no layer)");
  EXPECT_EQ((slot<std::uint64_t (*)(Handle, const NvtxPayloadSchema*)>(0)(others, nullptr)), 0u);
}

TEST_F(NvtxPayloads, WhetherAllRanksAreHereIsAskedWhenAnObjectComes) {
  const auto what = with("ncclAllReduce", &payload);
  const auto one_node = [&] {
    push(nccl, &what);
    const auto said = this_thread().ranges.collectives.take();
    pop(nccl);
    return said->one_node;
  };
  setenv("WORLD_SIZE", "4", 1);
  setenv("LOCAL_WORLD_SIZE", "4", 1);
  attach_nvtx_payloads(&module);
  EXPECT_TRUE(one_node());
  setenv("LOCAL_WORLD_SIZE", "2", 1);
  attach_nvtx_payloads(&module);
  EXPECT_FALSE(one_node());
  unsetenv("WORLD_SIZE");
  unsetenv("LOCAL_WORLD_SIZE");
}

}  // namespace
}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// Schemas and payloads as NCCL's are, and damaged ones.
#include "collector/runtime/nvtx_schemas.h"

#include <gtest/gtest.h>

#include <cstddef>

namespace gable::tests {
namespace {

constexpr DomainId kNccl = 7;
constexpr std::uint64_t kInit = 1u << 24, kReduce = kInit + 5;
constexpr std::uint64_t kInt = 5, kUint64 = 18, kSize = 22;

struct Communicator {
  std::uint64_t hash;
  int ranks;
};
struct Message {
  std::uint64_t communicator;
  std::size_t bytes;
};

NvtxPayloadEntry entry(std::uint64_t type, const char* name, std::size_t offset) {
  NvtxPayloadEntry made{};
  made.type = type;
  made.name = name;
  made.offset = offset;
  return made;
}

class NvtxSchemasOf : public ::testing::Test {
 protected:
  NvtxSchemasOf() {
    add(communicator_, 2, kInit);
    add(message_, 2, kReduce);
  }
  std::uint64_t add(const NvtxPayloadEntry* entries, std::size_t count, std::uint64_t id,
                    DomainId domain = kNccl) {
    NvtxPayloadSchema schema{};
    schema.fields = 1u << 4 | 1u << 5 | (id != 0 ? 1u << 8 : 0);
    schema.entries = entries;
    schema.entry_count = count;
    schema.id = id;
    return schemas.add(domain, schema);
  }
  void made(std::uint64_t hash, int ranks) {
    const Communicator said{hash, ranks};
    schemas.learn_communicator(kNccl, {kInit, sizeof said, &said});
  }
  std::optional<CollectiveMessage> said(const char* range, std::uint64_t communicator,
                                        std::size_t bytes, std::size_t size = sizeof(Message)) {
    const Message message{communicator, bytes};
    return schemas.message(kNccl, range, {kReduce, size, &message}, true);
  }
  NvtxSchemas schemas;
  const NvtxPayloadEntry communicator_[2] = {
      entry(kUint64, "NCCL communicator ID", offsetof(Communicator, hash)),
      entry(kInt, "No. of ranks", offsetof(Communicator, ranks)),
  };
  const NvtxPayloadEntry message_[2] = {
      entry(kUint64, "NCCL communicator ID", offsetof(Message, communicator)),
      entry(kSize, "Message size [bytes]", offsetof(Message, bytes)),
  };
};

TEST_F(NvtxSchemasOf, MessagesOfACommunicator) {
  made(0xabc, 8);
  const auto reduce = said("ncclAllReduce", 0xabc, 1000);
  ASSERT_TRUE(reduce);
  EXPECT_EQ(reduce->kind, Collective::all_reduce);
  EXPECT_EQ(reduce->ranks, 8u);
  EXPECT_EQ(reduce->bytes, 1000u);
  EXPECT_TRUE(reduce->sized);
  EXPECT_TRUE(reduce->one_node);
  // NCCL tells of one rank's part.
  EXPECT_EQ(said("ncclAllGather", 0xabc, 1000)->bytes, 8000u);
  EXPECT_EQ(said("ncclReduceScatter", 0xabc, 1000)->bytes, 8000u);
  EXPECT_EQ(said("ncclAlltoAll", 0xabc, 1000)->bytes, 8000u);
  EXPECT_EQ(said("ncclSend", 0xabc, 1000)->bytes, 1000u);
}

TEST_F(NvtxSchemasOf, ACommunicatorThatNobodySawBeingMade) {
  made(0xabc, 8);
  EXPECT_EQ(said("ncclAllReduce", 0xdef, 1000)->ranks, 0u);
  EXPECT_TRUE(said("ncclAllReduce", 0xdef, 1000)->sized);
  EXPECT_FALSE(said("ncclAllGather", 0xdef, 1000)->sized) << "how many parts is not known";
}

TEST_F(NvtxSchemasOf, WithoutANameOfTheCommunicatorAllMustBeAlike) {
  add(message_ + 1, 1, kReduce);
  made(1, 8);
  EXPECT_EQ(said("ncclAllReduce", 0, 1000)->ranks, 8u);
  made(2, 8);
  EXPECT_EQ(said("ncclAllReduce", 0, 1000)->ranks, 8u);
  made(3, 4);
  EXPECT_EQ(said("ncclAllReduce", 0, 1000)->ranks, 0u);
}

TEST_F(NvtxSchemasOf, WhatIsTooShortOrOfAnotherSchemaSaysNothing) {
  EXPECT_FALSE(said("ncclAllReduce", 1, 1000, 0));
  EXPECT_FALSE(said("ncclAllReduce", 1, 1000, sizeof(Message) - 1));
  EXPECT_FALSE(schemas.message(kNccl, "ncclAllReduce", {kReduce, sizeof(Message), nullptr}, true));
  EXPECT_FALSE(schemas.message(kNccl, "ncclAllReduce", {99, 16, this}, true));
  EXPECT_FALSE(schemas.message(kNccl + 1, "ncclAllReduce", {kReduce, 16, this}, true));
  made(1, -1);
  made(2, 0);
  EXPECT_EQ(said("ncclAllReduce", 1, 1000)->ranks, 0u);
  EXPECT_EQ(said("ncclAllReduce", 2, 1000)->ranks, 0u);
}

TEST_F(NvtxSchemasOf, SchemasWithoutAnIdGetOne) {
  const auto first = add(message_, 2, 0), second = add(message_, 2, 0);
  EXPECT_GE(first, std::uint64_t{1} << 32);
  EXPECT_NE(first, second);
  const Message message{1, 5};
  EXPECT_EQ(schemas.message(kNccl, "ncclSend", {second, sizeof message, &message}, false)->bytes,
            5u);
}

TEST_F(NvtxSchemasOf, OddSchemasDoNoHarm) {
  const NvtxPayloadEntry odd[] = {entry(kSize, nullptr, 0), entry(99, "Message size [bytes]", 8)};
  add(odd, 2, 77);
  const Message message{1, 5};
  EXPECT_FALSE(schemas.message(kNccl, "ncclSend", {77, sizeof message, &message}, false));
  EXPECT_EQ(add(nullptr, 3, 78), 78u);
  NvtxPayloadSchema nothing{};
  EXPECT_NE(schemas.add(kNccl, nothing), 0u);
}

}  // namespace
}  // namespace gable::tests

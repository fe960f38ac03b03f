// SPDX-License-Identifier: Apache-2.0
#include "collector/runtime/nvtx_schemas.h"

#include <algorithm>
#include <cstring>

namespace gable {
namespace {

// Of NvtxPayloadSchema::fields.
constexpr std::uint64_t kHasEntries = 1u << 4, kHasCount = 1u << 5, kHasId = 1u << 8;
// Ids that a tool gives out; those below are the programs' own.
constexpr std::uint64_t kFirstDynamicId = std::uint64_t{1} << 32;

// Types of fields, by their numbers in NVTX.
std::size_t size_of(std::uint64_t type) {
  constexpr std::uint64_t kInt = 5, kUint64 = 18, kSize = 22;
  return type == kInt ? sizeof(int) : type == kUint64 || type == kSize ? sizeof(std::uint64_t) : 0;
}

// How NCCL names its fields.
constexpr std::string_view kBytes = "Message size [bytes]", kRanks = "No. of ranks",
                           kDevices = "No. of devices", kCommunicator = "NCCL communicator ID";

}  // namespace

std::uint64_t NvtxSchemas::add(DomainId domain, const NvtxPayloadSchema& schema) {
  const MutexLock hold(mutex_);
  const bool own_id = (schema.fields & kHasId) != 0 && schema.id != 0;
  const std::uint64_t id = own_id ? schema.id : kFirstDynamicId + ++next_id_;
  constexpr std::uint64_t kNeeded = kHasEntries | kHasCount;
  if ((schema.fields & kNeeded) != kNeeded || schema.entries == nullptr || known_.size() >= kMost)
    return id;
  Known known;
  for (std::size_t i = 0; i < schema.entry_count; ++i) {
    const NvtxPayloadEntry& entry = schema.entries[i];
    if (entry.name == nullptr) continue;
    const std::string_view name = entry.name;
    const Field field{entry.offset, size_of(entry.type)};
    if (name == kBytes) known.bytes = field;
    if (name == kRanks || name == kDevices) known.ranks = field;
    if (name == kCommunicator) known.communicator = field;
  }
  if (known.bytes.size > 0 || known.ranks.size > 0) known_[{domain, id}] = known;
  return id;
}

const NvtxSchemas::Known* NvtxSchemas::find(DomainId domain, std::uint64_t schema) const {
  const auto found = known_.find({domain, schema});
  return found == known_.end() ? nullptr : &found->second;
}

// A size of SIZE_MAX leaves it to the schema how long the payload is.
std::optional<std::uint64_t> NvtxSchemas::read(const Field& field, const NvtxPayload& payload) {
  if (field.size == 0 || payload.data == nullptr || field.offset > payload.size ||
      payload.size - field.offset < field.size)
    return std::nullopt;
  const char* at = static_cast<const char*>(payload.data) + field.offset;
  if (field.size == sizeof(int)) {
    int value = 0;
    std::memcpy(&value, at, sizeof value);
    return value >= 0 ? std::optional(static_cast<std::uint64_t>(value)) : std::nullopt;
  }
  std::uint64_t value = 0;
  std::memcpy(&value, at, sizeof value);
  return value;
}

std::uint32_t NvtxSchemas::ranks_of(std::optional<std::uint64_t> communicator) const {
  if (communicator) {
    const auto found = communicators_.find(*communicator);
    if (found != communicators_.end()) return found->second;
    return 0;
  }
  // Older NCCLs do not say which communicator a call is of: it does not matter where all are alike.
  if (communicators_.empty()) return 0;
  const std::uint32_t ranks = communicators_.begin()->second;
  const bool alike = std::all_of(communicators_.begin(), communicators_.end(),
                                 [&](const auto& each) { return each.second == ranks; });
  return alike ? ranks : 0;
}

std::optional<CollectiveMessage> NvtxSchemas::message(DomainId domain, std::string_view range,
                                                      const NvtxPayload& payload,
                                                      bool one_node) const {
  const MutexLock hold(mutex_);
  const Known* known = find(domain, payload.schema);
  if (known == nullptr) return std::nullopt;
  const auto bytes = read(known->bytes, payload);
  if (!bytes) return std::nullopt;
  CollectiveMessage message;
  message.kind = collective_named(range);
  message.ranks = ranks_of(read(known->communicator, payload));
  message.one_node = one_node;
  message.bytes = *bytes;
  message.sized = true;
  // Of these NCCL tells one rank's part.
  const bool part = message.kind == Collective::all_gather ||
                    message.kind == Collective::reduce_scatter ||
                    message.kind == Collective::all_to_all;
  if (part) {
    message.sized = message.ranks > 0;
    message.bytes *= message.ranks;
  }
  return message;
}

void NvtxSchemas::learn_communicator(DomainId domain, const NvtxPayload& payload) {
  const MutexLock hold(mutex_);
  const Known* known = find(domain, payload.schema);
  if (known == nullptr) return;
  const auto ranks = read(known->ranks, payload);
  if (!ranks || *ranks == 0 || *ranks > UINT32_MAX || communicators_.size() >= kMost) return;
  // Without a name each is one of its own.
  const auto communicator = read(known->communicator, payload);
  communicators_[communicator.value_or(communicators_.size())] = static_cast<std::uint32_t>(*ranks);
}

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// What the payloads of NVTX ranges hold (NVTX's payload extension): programs register a schema, the
// names and offsets of its fields, and pass structures of that form. Gable reads what NCCL says of
// a collective.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "analysis/base/mutex.h"
#include "collector/layers/collective_messages.h"
#include "collector/layers/range_tracker.h"

namespace gable {

// NVTX's structures, which are the same in all its versions with payloads (nvToolsExtPayload.h);
// not every CUDA toolkit has that header.
struct NvtxPayloadEntry {  // nvtxPayloadSchemaEntry_t
  std::uint64_t flags, type;
  const char *name, *description;
  std::uint64_t array_or_union, offset;
  const void *semantics, *reserved;
};
struct NvtxPayloadSchema {  // nvtxPayloadSchemaAttr_t; `fields` says which of the others count
  std::uint64_t fields;
  const char* name;
  std::uint64_t type, flags;
  const NvtxPayloadEntry* entries;
  std::size_t entry_count, payload_size, alignment;
  std::uint64_t id;
  void* extension;
};
struct NvtxPayload {  // nvtxPayloadData_t
  std::uint64_t schema;
  std::size_t size;
  const void* data;
};

// All members may be called from any thread.
class NvtxSchemas {
 public:
  // Adds a schema and returns its id: its own, or a new one.
  std::uint64_t add(DomainId domain, const NvtxPayloadSchema& schema);

  // What a range of that name says of a collective; nothing if its payload has no message size.
  // `one_node`: all ranks are on this machine.
  [[nodiscard]] std::optional<CollectiveMessage> message(DomainId domain, std::string_view range,
                                                         const NvtxPayload& payload,
                                                         bool one_node) const;
  // Learns the number of ranks from the payload of a call that made a communicator.
  void learn_communicator(DomainId domain, const NvtxPayload& payload);

 private:
  struct Field {
    std::uint64_t offset = 0;
    std::size_t size = 0;  // 0: the schema has no such field
  };
  struct Known {
    Field bytes, communicator, ranks;
  };
  static constexpr std::size_t kMost = 10000;  // most schemas, and most communicators

  [[nodiscard]] const Known* find(DomainId domain, std::uint64_t schema) const
      GABLE_REQUIRES(mutex_);
  [[nodiscard]] static std::optional<std::uint64_t> read(const Field& field,
                                                         const NvtxPayload& payload);
  [[nodiscard]] std::uint32_t ranks_of(std::optional<std::uint64_t> communicator) const
      GABLE_REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::map<std::pair<DomainId, std::uint64_t>, Known> known_ GABLE_GUARDED_BY(mutex_);
  std::map<std::uint64_t, std::uint32_t> communicators_ GABLE_GUARDED_BY(mutex_);
  std::uint64_t next_id_ GABLE_GUARDED_BY(mutex_) = 0;
};

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// Rows of an export of nsys as they are set aside until they are joined: few bytes each, as there
// may be many millions. Times are the file's.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "analysis/events/events.h"
#include "tools/streams/sorted_records.h"

namespace gable {

// Where GPU work ran and what it is: few are different.
struct NsysSource {
  bool kernel = true;
  std::int32_t device = 0;
  std::uint32_t process = 0;
  std::uint32_t context = 0, stream = 0;
  CopyKind kind = CopyKind::other;
  HostMemory host = HostMemory::unknown;
  bool sized = false;  // its bytes are known
  // NOLINTNEXTLINE(modernize-use-nullptr): the check takes <=> for a null
  friend auto operator<=>(const NsysSource&, const NsysSource&) = default;
};

class NsysSources {
 public:
  std::uint32_t id(const NsysSource& source) {
    if (!all_.empty() && all_[last_] == source) return last_;
    const auto [known, fresh] = ids_.try_emplace(source, static_cast<std::uint32_t>(all_.size()));
    if (fresh) all_.push_back(source);
    last_ = known->second;
    return last_;
  }
  [[nodiscard]] const NsysSource& operator[](std::uint32_t id) const { return all_[id]; }

 private:
  std::vector<NsysSource> all_;
  std::map<NsysSource, std::uint32_t> ids_;
  std::uint32_t last_ = 0;
};

struct NsysOperation {
  std::uint64_t start_ns = 0, end_ns = 0;
  std::uint64_t what = 0;  // function and shape of a kernel, bytes of a copy
  std::uint32_t correlation = 0;
  std::uint32_t source = 0;
  std::uint32_t place = 0;   // in the file: kernels, then copies
  std::uint32_t caller = 0;  // the process; once its call is found, the thread
};

// The call that GPU work came from. Some exports have a row for the runtime's call and one for the
// driver's within it: the first counts.
struct NsysCall {
  std::uint64_t key = 0;  // process and number
  std::uint64_t start_ns = 0;
  std::uint32_t thread = 0;
  std::uint32_t row = 0;  // of those that are kept
};

struct NsysCalled {
  std::uint64_t call_ns = 0;
  NsysOperation operation;
};

struct NsysWait {
  std::uint64_t start_ns = 0, end_ns = 0;
  std::uint32_t thread = 0;
};

// Work that has its layer, for records of steps; its times are the report's.
struct NsysPlaced {
  NsysOperation operation;
  std::uint32_t layer = 0;
};

struct NsysNode {
  std::uint32_t place = 0;
  std::uint64_t id = 0;  // of the CUDA graph
};

struct NsysEarlier {
  bool operator()(const NsysOperation& a, const NsysOperation& b) const {
    return std::tie(a.caller, a.correlation) < std::tie(b.caller, b.correlation);
  }
  bool operator()(const NsysCall& a, const NsysCall& b) const {
    return std::tie(a.key, a.start_ns) < std::tie(b.key, b.start_ns);
  }
  bool operator()(const NsysCalled& a, const NsysCalled& b) const {
    return std::tie(a.operation.caller, a.call_ns) < std::tie(b.operation.caller, b.call_ns);
  }
  // Of waits that begin together the longer is around the other.
  bool operator()(const NsysWait& a, const NsysWait& b) const {
    return std::tie(a.thread, a.start_ns, b.end_ns) < std::tie(b.thread, b.start_ns, a.end_ns);
  }
};

}  // namespace gable

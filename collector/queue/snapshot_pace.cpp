// SPDX-License-Identifier: Apache-2.0
#include "collector/queue/snapshot_pace.h"

#include <algorithm>

namespace gable {

bool SnapshotPace::due(std::uint64_t now_ns, const SnapshotContent& content) {
  if (content == written_) return false;
  if (first_event_ns_ == 0) first_event_ns_ = now_ns;
  const bool first_window = !wrote_window_ && content.windows > written_.windows;
  if (!wrote_) return first_window || now_ns - first_event_ns_ >= std::min(kFirstNs, every_ns_);
  // Before the first window there was next to nothing to write.
  return now_ns - began_ns_ >= (first_window ? kShare * cpu_ns_ : interval_ns());
}

void SnapshotPace::wrote(std::uint64_t began_ns, std::uint64_t cpu_ns,
                         const SnapshotContent& content) {
  wrote_ = true;
  wrote_window_ = wrote_window_ || content.windows > written_.windows;
  began_ns_ = began_ns;
  cpu_ns_ = cpu_ns;
  written_ = content;
}

void SnapshotPace::begin_anew(const SnapshotContent& content) {
  wrote_ = wrote_window_ = false;
  first_event_ns_ = 0;
  written_ = content;
}

std::uint64_t SnapshotPace::interval_ns() const { return std::max(every_ns_, kShare * cpu_ns_); }

}  // namespace gable

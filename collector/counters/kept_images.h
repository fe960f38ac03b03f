// SPDX-License-Identifier: Apache-2.0
// Counter images as CUPTI filled them, with the values that it gave, so that another machine's host
// API can evaluate them again. Bounded: one image of each phase, of at most kMostBytes, kMostImages
// in all. As a file it is CBOR (RFC 8949): a map of "gable_counter_images": 1, "source", "images".
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/base/mutex.h"
#include "collector/metrics/plan.h"
#include "collector/queue/range_join.h"

namespace gable {

struct CounterImage {
  Phase phase;
  std::string phase_name;  // "hw:1", as read from a file
  std::string chip;        // as CUPTI names it
  std::uint32_t cupti = 0;
  std::vector<std::string> metrics;
  std::vector<std::uint8_t> config, counters;
  std::vector<RangeValues> ranges;  // as CUPTI evaluated them; one value per metric
};

class KeptImages {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{4} << 20;
  static constexpr std::size_t kMostImages = 16;

  // What a profiler has after it read a window; keep() copies it.
  struct Read {
    const PassPlan* plan;
    const std::string& chip;
    std::uint32_t cupti;
    const std::vector<std::uint8_t>& image;
    const std::vector<RangeValues>& ranges;
  };
  // From any thread.
  void keep(const Read& read);

  [[nodiscard]] bool empty() const;
  [[nodiscard]] std::uint64_t left_out() const;  // number of phases with no image kept
  // The file; `source`: "cupti" or "playback".
  [[nodiscard]] std::string text(const std::string& source) const;

 private:
  mutable Mutex mutex_;  // never taken in a CUPTI callback
  std::vector<CounterImage> images_ GABLE_GUARDED_BY(mutex_);
  std::vector<Phase> too_large_ GABLE_GUARDED_BY(mutex_);
};

struct ImagesRead {
  std::vector<CounterImage> images;
  std::string source;
  std::string error;  // one sentence
};
[[nodiscard]] ImagesRead read_images(const std::string& path);

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// When a recording's ranges, launches and GPU work happen, on a clock that starts at 0, as the
// playback GPU performs it without profiling. A call takes its host_ns; work starts when its call
// returns and its stream is free; a stream takes 1024 pieces of work, then calls wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/recording/recording.h"

namespace gable {

struct TimelineEvent {
  enum class Kind : std::uint8_t { range, call, kernel, copy };
  Kind kind = Kind::range;
  std::string name;
  std::uint64_t start_ns = 0, end_ns = 0;
  std::int32_t thread = 0;                // thread that opened the range or made the call
  std::uint32_t stream = 0;               // kernel, copy
  std::uint32_t context = 0;              // kernel, copy
  std::uint64_t link = 0;                 // joins a call and the work that it starts; 0: none
  std::uint64_t bytes = 0;                // copy
  bool across_threads = false;            // range: start and end
  Direction direction = Direction::none;  // range
  // Kernel, copy: the ranges open at the call, "a/b"; those across threads first.
  std::string layer;
};

struct Timeline {
  std::vector<TimelineEvent> events;  // in the order of their ends; ranges of one thread nest
  std::uint64_t end_ns = 0;
  bool cut = false;  // later events were left out
};

// The timeline with at most `most` events: later ones are left out, and open ranges end there.
[[nodiscard]] Timeline timeline_of(const Recording& recording, std::size_t most);

}  // namespace gable

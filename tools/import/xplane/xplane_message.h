// SPDX-License-Identifier: Apache-2.0
// The messages of an XPlane file by their fields' numbers, and the small ones decoded:
// https://github.com/openxla/xla/blob/main/third_party/tsl/tsl/profiler/protobuf/xplane.proto
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/streams/message_stream.h"

namespace gable::xplane {

// Fields.
namespace space {
constexpr std::uint32_t planes = 1, errors = 2, warnings = 3;
}
namespace plane {
constexpr std::uint32_t name = 2, lines = 3, event_metadata = 4, stat_metadata = 5, stats = 6;
}
namespace line {
constexpr std::uint32_t id = 1, name = 2, timestamp_ns = 3, events = 4, display_name = 11;
}

// Views are into what was decoded.
struct Stat {
  enum class Kind : std::uint8_t { none, real, whole, text, reference };
  std::int64_t id = 0;
  Kind kind = Kind::none;
  double real = 0;
  std::int64_t whole = 0;
  std::uint64_t reference = 0;  // of the stat metadata whose name is the text
  std::string_view text;
};

struct Event {
  std::int64_t id = 0;
  bool has_offset = true;  // false: it stands for several
  std::int64_t offset_ps = 0, duration_ps = 0;
  std::vector<Stat> stats;
};

// An entry of one of a plane's two tables.
struct Metadata {
  std::int64_t id = 0;
  std::string_view name;
  std::vector<std::string_view> stats;  // that all events of the id have, not decoded
};

// These throw WrongUse through `in`, which the messages are from.
[[nodiscard]] Stat read_stat(std::string_view message, const MessageStream& in);
// Keeps the memory of `event`.
void read_event(std::string_view message, const MessageStream& in, Event& event);
[[nodiscard]] Metadata read_metadata(std::string_view entry, const MessageStream& in);

}  // namespace gable::xplane

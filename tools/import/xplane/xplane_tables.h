// SPDX-License-Identifier: Apache-2.0
// What must be known of an XPlane file before its events can be understood: names stand behind the
// events that have them, so that the file is read twice.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tools/import/xla/xla_texts.h"
#include "tools/import/xplane/xplane_message.h"

namespace gable::xplane {

// The names of one plane, of a GPU or of the host.
struct Tables {
  XlaPlace place;
  std::string name;
  struct EventName {
    std::string name;
    std::vector<std::string> stats;  // that all of its events have
  };
  std::unordered_map<std::int64_t, EventName> events;   // of the host: where they are asked for
  std::unordered_map<std::int64_t, std::string> texts;  // names of stats, which are texts as well
  std::vector<std::string> stats;                       // of the plane itself

  // Empty: there is none, or it does not matter.
  [[nodiscard]] std::string_view stat_name(const Stat& stat) const;
  // The value, where it is a text or a whole number.
  [[nodiscard]] std::string text_of(const Stat& stat) const;
};

struct SpaceTables {
  std::unordered_map<std::uint64_t, Tables> planes;  // by their place in the file
  std::uint64_t seen = 0;                            // planes
  std::vector<std::string> shown;                    // their names, the first of them
  std::uint64_t dropped = 0;                         // events of GPUs, as the profiler says
  std::string why;                                   // it has no GPU, as the profiler says
  bool gpu = false, other_device = false;
  bool steps = false;  // the program says what its steps are
};

// `names`: those of host events matter.
[[nodiscard]] SpaceTables read_tables(ByteSource& source, bool names);

}  // namespace gable::xplane

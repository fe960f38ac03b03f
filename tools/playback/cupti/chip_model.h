// SPDX-License-Identifier: Apache-2.0
// A model of what CUPTI's Profiler Host API knows of a chip: which metrics exist and how many
// passes a set of them needs. Measured with the host API of CUPTI 13.0, which needs no GPU;
// tests/unit/playback compares it with the one at hand.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gable::playback {

// A metric that does not fit every pass. Those that do (DRAM, duration, CTAs, cycles) are the same
// on all chips here.
struct ModelMetric {
  std::string_view name;
  std::size_t passes = 1;         // alone, beside the plain hardware metrics
  unsigned long long beside = 0;  // bit i: shares a pass with metric i of the chip's table
};

// Three metrics of which any two share a pass but all three do not.
struct ModelTriple {
  unsigned char a, b, c;
};

struct ChipTable {
  std::string_view chip;
  const ModelMetric* metrics;
  std::size_t count;
  const ModelTriple* triples;
  std::size_t triple_count;
};

class ChipModel {
 public:
  // Null for a chip that the model does not have.
  static const ChipTable* find(std::string_view chip);
  static std::vector<const char*> chips();

  // Whether the metric (with its roll-up, "x.sum") shares a pass with every other, on all chips.
  static bool fits_all(std::string_view metric);
  // Whether it exists on the chip.
  static bool has(const ChipTable& chip, std::string_view metric);
  // Passes that a set needs; nullopt when one of them does not exist.
  static std::optional<std::size_t> passes(const ChipTable& chip,
                                           const std::vector<std::string>& metrics);
};

extern const ChipTable kChipTables[];
extern const std::size_t kChipTableCount;

}  // namespace gable::playback

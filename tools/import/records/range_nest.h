// SPDX-License-Identifier: Apache-2.0
// Ranges on the threads of a program, and which of them was open at a call: layers, as a recording
// of all ranges tells them afterwards.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/step_graph/recorded_steps.h"
#include "tools/import/records/imported.h"
#include "tools/import/records/range_names.h"

namespace gable {

class RangeNest {
 public:
  static constexpr std::uint32_t kNone = 0xffffffff;

  struct Range {
    std::uint64_t start_ns = 0, end_ns = 0;
    std::uint32_t thread = 0, name = 0;
    Direction direction = Direction::none;
    bool is_layer = true;  // false: it is only there to be found
    bool grouped = false;  // of these only the outermost is a layer
    bool within = false;   // a grouped one
    bool neutral = false;  // what is within it has no direction
    std::uint32_t tag = kNone;
    LayerId layer = 0;
    std::uint32_t parent = kNone;
  };

  explicit RangeNest(LayerTree& layers) : layers_(layers) {}

  std::uint32_t name(std::string_view text) { return names_.id(text); }
  [[nodiscard]] const std::string& text(std::uint32_t name) const { return names_.text(name); }
  void reserve(std::size_t more) { ranges_.reserve(ranges_.size() + more); }
  void add(const Range& range) { ranges_.push_back(range); }
  // After the last range: sorts them and gives them their layers.
  void nest();
  // After nest(). Sorted by thread and start.
  [[nodiscard]] std::vector<Range>& ranges() { return ranges_; }
  [[nodiscard]] const std::vector<Range>& ranges() const { return ranges_; }
  // The innermost range that was open on the thread at that time; kNone: none.
  [[nodiscard]] std::uint32_t at(std::uint32_t thread, std::uint64_t when_ns) const;
  [[nodiscard]] LayerId layer(std::uint32_t range) const {
    return range == kNone ? 0 : ranges_[range].layer;
  }

  // GPU work of a call made within the range: counts for all ranges around it.
  void project(std::uint32_t range, std::int32_t device, std::uint64_t start_ns,
               std::uint64_t end_ns);
  // When the program fetched its next input between these times, as ranges of PyTorch's say. After
  // nest().
  [[nodiscard]] std::vector<InputWait> inputs(std::uint64_t from_ns, std::uint64_t to_ns) const;
  // Sums over the instances of each layer. Ends the projection.
  void finish(Imported& imported);

 private:
  struct Work {
    std::uint64_t first = UINT64_MAX, last = 0;
    std::uint32_t operations = 0;
    void add(const Work& other);
  };

  LayerTree& layers_;
  std::vector<Range> ranges_;
  RangeNames names_;
  std::unordered_map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> threads_;  // from, to
  std::unordered_map<std::int32_t, std::vector<Work>> work_;  // by device and range
};

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// Turns an NVTX range name into a layer name: numbers that vary between calls are cut, so that a
// place in the program is always the same layer.
#pragma once

#include <regex>
#include <string>
#include <string_view>
#include <vector>

namespace gable {

class RangeNaming {
 public:
  // Names are cut at this many bytes (on a character border) before anything else looks at them.
  static constexpr std::size_t kMaxNameBytes = 512;

  // `fold`: regular expressions; what they match is cut. `step_range`: a range whose name matches
  // is one step. Expressions that do not compile are left out (the launcher has refused them
  // already).
  RangeNaming(const std::vector<std::string>& fold, const std::string& step_range);

  // Without ", seq = N" and ", op_id = N" (PyTorch's emit_nvtx). Returns `raw` itself when there is
  // nothing to cut, else a view into `buffer`.
  static std::string_view cut_sequence_numbers(std::string_view raw, std::string& buffer);

  struct Name {
    std::string text;      // what the layer is called; never empty
    bool is_step = false;  // its digits are then shown as one '#', so that all steps are one layer
  };
  // `cut` is a result of cut_sequence_numbers. For the slow path: a name seen for the first time.
  [[nodiscard]] Name name(std::string_view cut) const;

 private:
  std::vector<std::regex> fold_;
  std::vector<std::regex> step_;  // none or one
};

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// What the program's framework says of a device's memory in one step: how much was taken after each
// operator, and what was held when most was. In bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/base/words.h"
#include "analysis/events/events.h"

namespace gable {

// What tensors that hold memory are, or how they came to be.
enum class HeldAs : std::uint8_t {
  parameters,
  buffers,
  gradients,  // of parameters
  optimizer_state,
  made,   // by an operator of the step
  given,  // to one, and made by none that was seen
};
template <>
inline constexpr auto kWordsOf<HeldAs> = std::to_array<Word<HeldAs>>({
    {HeldAs::parameters, "parameters"},
    {HeldAs::buffers, "buffers"},
    {HeldAs::gradients, "gradients"},
    {HeldAs::optimizer_state, "optimizer_state"},
    {HeldAs::made, "made"},
    {HeldAs::given, "given"},
});

struct MemoryPoint {
  LayerId layer = 0;
  std::uint32_t name = 0;   // of the operator: its place in StepMemory::names
  std::uint64_t bytes = 0;  // taken after it
};
struct HeldMemory {
  HeldAs as = HeldAs::made;
  // Of parameters, buffers and gradients: names that lead to the module. Else empty.
  std::vector<std::string> module;
  LayerId layer = 0;  // of what was made or given: where the operator ran
  std::uint64_t bytes = 0, tensors = 0;
};
struct StepMemory {
  std::int32_t device = 0;
  bool by_allocator = false;  // else by the tensors seen
  std::vector<std::string> names;
  std::vector<MemoryPoint> points;  // in order; the first is from before the first operator
  std::size_t peak = 0;             // of `points`
  // Of the allocator: the most since the program began, and what it holds of the device's memory.
  std::optional<std::uint64_t> allocator_peak, reserved;
  std::vector<HeldMemory> held;  // at the peak
};

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// What a trace says of an operator's arguments, by their places in its schema: sizes and types of
// tensors, values of the others.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tools/import/kineto/trace_event.h"

namespace gable {

using Sizes = std::vector<std::int64_t>;

struct InputType {
  std::string_view name;  // as PyTorch writes it
  std::string_view type;  // as reports name it; empty: none of theirs
  double bytes = 0;
};

// Empty where it is no tensor, or a list of them.
[[nodiscard]] const Sizes& sizes_of(const TraceEvent& event, std::size_t place);
// Of the tensor there; of the first that has a type where the trace does not tell it.
[[nodiscard]] const InputType& type_of(const TraceEvent& event, std::size_t place);
// "[2, 2]". One number stands for all.
[[nodiscard]] std::optional<Sizes> list_at(const TraceEvent& event, std::size_t place,
                                           std::size_t count);
[[nodiscard]] std::optional<std::int64_t> number_at(const TraceEvent& event, std::size_t place);
// "True", or "[True, False, True]".
[[nodiscard]] std::optional<std::vector<bool>> truths_at(const TraceEvent& event,
                                                         std::size_t place);

[[nodiscard]] double elements(const Sizes& sizes);
[[nodiscard]] bool is_sane(const Sizes& sizes);

}  // namespace gable

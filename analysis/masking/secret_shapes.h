// SPDX-License-Identifier: Apache-2.0
// The shapes that services give to their secrets, which tell them wherever they stand. Linear in
// the text, and no recursion, as the text is a stranger's.
#pragma once

#include <cstddef>
#include <string_view>

namespace gable {

// How many characters of `text` from `at` on have the shape of a service's secret; 0: none.
[[nodiscard]] std::size_t secret_shape(std::string_view text, std::size_t at);

}  // namespace gable

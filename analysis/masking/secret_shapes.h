// SPDX-License-Identifier: Apache-2.0
// The formats of services' secrets, recognised anywhere in a text. Linear in the untrusted text,
// without recursion.
#pragma once

#include <cstddef>
#include <string_view>

namespace gable {

// Length of the text at `at` that has the format of a service's secret; 0: none.
[[nodiscard]] std::size_t secret_shape(std::string_view text, std::size_t at);

}  // namespace gable

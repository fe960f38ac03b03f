// SPDX-License-Identifier: Apache-2.0
// Numbers as text, the same in every locale: the library runs in programs that may have set one
// with a decimal comma.
#pragma once

#include <string>

namespace gable {

// The value with at most `digits` significant digits and no trailing zeros, as printf's %.4g:
// "1.98", "2e+12".
[[nodiscard]] std::string significant(double value, int digits);
// The value with `digits` decimals, as printf's %.3f: "1.980".
[[nodiscard]] std::string decimals(double value, int digits);

}  // namespace gable

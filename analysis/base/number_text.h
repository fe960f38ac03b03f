// SPDX-License-Identifier: Apache-2.0
// Numbers as text, the same in every locale: the library runs in programs that may have set one
// with a decimal comma.
#pragma once

#include <string>

namespace gable {

// At most so many significant digits, without zeros at the end: "1.98", "2e+12". printf's %.4g.
[[nodiscard]] std::string significant(double value, int digits);
// So many decimals: "1.980". printf's %.3f.
[[nodiscard]] std::string decimals(double value, int digits);

}  // namespace gable

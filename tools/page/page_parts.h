// SPDX-License-Identifier: Apache-2.0
// The parts of the page as the build put them into the program (scripts/cmake/GablePage.cmake).
#pragma once

#include <string_view>

namespace gable {

[[nodiscard]] std::string_view page_template();
[[nodiscard]] std::string_view page_style();
[[nodiscard]] std::string_view page_d3();
[[nodiscard]] std::string_view page_script();

}  // namespace gable

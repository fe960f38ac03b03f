// SPDX-License-Identifier: Apache-2.0
// Lists of names as the Python side hands them over: with the byte 0x1f between them, and 0x1e
// before the class of a module.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/events/layer_model.h"

namespace gable {

// No text is no name.
[[nodiscard]] inline std::vector<std::string_view> names_in(const char* text) {
  std::vector<std::string_view> names;
  for (std::string_view rest = text == nullptr ? "" : text; !rest.empty();) {
    const auto end = rest.find('\x1f');
    names.push_back(rest.substr(0, end));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  return names;
}

// What names no class is left out.
[[nodiscard]] inline std::vector<SourceModule> modules_in(const char* text) {
  std::vector<SourceModule> modules;
  for (const auto each : names_in(text)) {
    const auto end = each.find('\x1e');
    if (end == std::string_view::npos) continue;
    modules.push_back(
        {.name = std::string(each.substr(0, end)), .kind = std::string(each.substr(end + 1))});
  }
  return modules;
}

}  // namespace gable

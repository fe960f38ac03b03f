// SPDX-License-Identifier: Apache-2.0
#include "analysis/events/xla_scope.h"

namespace gable {

std::vector<std::string_view> xla_scope_parts(std::string_view scope, bool whole) {
  scope = scope.substr(0, scope.find_first_of("[;"));
  std::vector<std::string_view> parts;
  bool first = whole;
  while (!scope.empty()) {
    const auto slash = scope.find('/');
    std::string_view part = scope.substr(0, slash);
    scope = slash == std::string_view::npos ? std::string_view() : scope.substr(slash + 1);
    const bool function = part.starts_with("jit(") || part.starts_with("pjit(");
    for (auto open = part.find('('); open != std::string_view::npos && part.ends_with(')');
         open = part.find('('))
      part = part.substr(open + 1, part.size() - open - 2);
    const bool program = function && (first || part == "main");
    first = first && program;
    if (!part.empty() && !program) parts.push_back(part);
  }
  return parts;
}

Direction xla_direction(std::string_view scope) {
  if (scope.find("transpose(") != std::string_view::npos) return Direction::backward;
  if (scope.find("jvp(") != std::string_view::npos) return Direction::forward;
  return Direction::none;
}

}  // namespace gable

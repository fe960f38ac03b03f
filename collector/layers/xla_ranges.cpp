// SPDX-License-Identifier: Apache-2.0
#include "collector/layers/xla_ranges.h"

#include "analysis/events/xla_scope.h"

namespace gable {
namespace {

// What stands behind "KEY=" up to the next of XLA's own keys. Names of operators may have commas.
std::string_view value_of_key(std::string_view text, std::string_view key, std::string_view next) {
  const std::string begin = std::string(key) + "=";
  std::size_t from = 0;
  if (!text.starts_with(begin)) {
    from = text.find("," + begin);
    if (from == std::string_view::npos) return {};
    ++from;
  }
  const std::string_view rest = text.substr(from + begin.size());
  return rest.substr(0, rest.find("," + std::string(next) + "="));
}

void add(std::vector<std::string>& names, std::string_view name) {
  if (!name.empty()) names.emplace_back(name);
}

}  // namespace

XlaRange xla_range(std::string_view title) {
  XlaRange range;
  const auto colon = title.find(":#");
  const std::string_view what = title.substr(0, colon);
  std::string_view said =
      colon == std::string_view::npos ? std::string_view() : title.substr(colon + 2);
  said = said.substr(0, said.rfind('#'));  // absent where a long title was cut
  if (what == "XlaModule") {
    const std::string_view prefix = value_of_key(said, "prefix", "hlo_module");
    add(range.names, value_of_key(said, "hlo_module", "program_id"));
    for (const std::string_view part : xla_scope_parts(prefix)) add(range.names, part);
    range.direction = xla_direction(prefix);
  } else if (what == "Thunk") {
    const std::string_view name = value_of_key(said, "name", "hlo_op");
    for (const std::string_view part : xla_scope_parts(name, false)) add(range.names, part);
    add(range.names, value_of_key(said, "hlo_op", "unique_hlo_op_id"));
    range.direction = xla_direction(name);
  }
  if (colon == std::string_view::npos) {
    // An operator that TensorFlow runs itself: "model/dense/MatMul:MatMul#id=7#".
    const std::string_view place = title.substr(0, title.find('#'));
    for (const std::string_view part : xla_scope_parts(place.substr(0, place.rfind(':')), false))
      add(range.names, part);
  }
  if (range.names.empty()) range.names.emplace_back(what.empty() ? title : what);
  return range;
}

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// The page's data as its scripts read it: rows with a value for each column.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/page/page_data.h"

namespace gable::tests {

using Json = nlohmann::json;

inline Json page_json(const Report& report) { return Json::parse(page_data({report}, {"file"})); }

// Texts stand for their places, under their columns' whole names: "$name", "%types".
inline std::vector<Json> page_rows(const Json& page, const Json& table) {
  const auto value = [&](const std::string& column, const Json& cell) {
    if (column.front() == '$') return page["strings"].at(cell.get<std::size_t>());
    if (column.front() != '%') return cell;
    Json parts = Json::object();
    for (std::size_t i = 0; i + 1 < cell.size(); i += 2)
      parts[page["strings"].at(cell[i].get<std::size_t>()).get<std::string>()] = cell[i + 1];
    // One name alone has all FLOPs.
    if (cell.size() == 1) parts[page["strings"].at(cell[0].get<std::size_t>())] = nullptr;
    return parts;
  };
  std::vector<Json> rows;
  for (const Json& cells : table["rows"]) {
    Json& row = rows.emplace_back(Json::object());
    for (const auto& [column, cell] : table["same"].items()) row[column] = value(column, cell);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const auto column = table["columns"].at(i).get<std::string>();
      row[column] = value(column, cells[i]);
    }
    for (auto& [type, flops] : row["%types"].items()) {
      if (flops.is_null()) flops = row["flops"];
    }
  }
  return rows;
}

inline std::vector<Json> layer_rows(const Report& report) {
  const Json page = page_json(report);
  return page_rows(page, page["reports"][0]["layers"]);
}

inline std::vector<Json> dot_rows(const Report& report, const char* kind) {
  const Json page = page_json(report);
  return page_rows(page, page["reports"][0]["dots"][kind]);
}

}  // namespace gable::tests

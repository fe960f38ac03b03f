// SPDX-License-Identifier: Apache-2.0
// A report against what is known of its kernels.
#include <cmath>
#include <cstdio>
#include <fstream>
#include <stdexcept>

#include "tests/gpu/prove/lines.h"
#include "tests/gpu/prove/parts.h"

namespace gable::prove {
namespace {

// "flops.fp32" within a row; what follows "counters." is one name.
Json value_in(const Json& row, const std::string& quantity) {
  constexpr const char* kCounters = "counters.";
  const Json* at = &row;
  std::string rest = quantity;
  while (!rest.empty()) {
    const bool counter = rest.rfind(kCounters, 0) == 0;
    const auto dot = rest.find('.');
    const std::string name = rest.substr(0, dot);
    rest = dot == std::string::npos ? "" : rest.substr(dot + 1);
    const auto found = at->find(name);
    if (found == at->end()) return {};
    at = &*found;
    if (counter) {
      const auto value = at->find(rest);
      return value == at->end() ? Json() : *value;
    }
  }
  return *at;
}

// "a+b": a sum, null where a part is not known.
Json value_of(const Json& row, const std::string& quantity) {
  const auto plus = quantity.find('+');
  Json first = value_in(row, quantity.substr(0, plus));
  if (plus == std::string::npos || !first.is_number()) return first;
  const Json rest = value_of(row, quantity.substr(plus + 1));
  return rest.is_number() ? Json(first.get<double>() + rest.get<double>()) : Json();
}

const Json* row_of(const Json& report, const std::string& kind, const std::string& name) {
  for (const Json& row : report.at(kind == "layer" ? "layers" : "kernels")) {
    if (kind == "layer") {
      if (!row.at("path").empty() && row.at("path").back() == name) return &row;
    } else if (row.value("symbol", "") == name || row.value("name", "") == name) {
      return &row;
    }
  }
  return nullptr;
}

// Of all kernels of a step; null where one of them is not known.
Json sum_of(const Json& report, const std::string& quantity) {
  double sum = 0;
  for (const Json& row : report.at("kernels")) {
    const Json value = value_of(row, quantity);
    if (!value.is_number()) return {};
    sum += value.get<double>() * row.at("launches").get<double>();
  }
  return sum;
}

// Empty when it agrees.
std::string difference(const Json& expected, double counted) {
  const std::string kind = expected.at("kind");
  const double value = expected.at("value");
  if (kind == "exact") return counted == value ? "" : "not equal";
  if (kind == "between")
    return counted >= value && counted <= expected.at("high").get<double>() ? "" : "out of bounds";
  const double tolerance = expected.at("tolerance");
  return std::abs(counted - value) <= tolerance * value ? "" : "too far off";
}

Json compared(const Json& report, const Json& expected) {
  const std::string kind = expected.at("row"), name = expected.at("name"),
                    quantity = expected.at("quantity");
  Json line = {{"what", "number"},     {"row", kind},       {"name", name},
               {"quantity", quantity}, {"counted", Json()}, {"expected", expected.at("value")}};
  for (const char* more : {"high", "tolerance", "why"}) {
    if (expected.contains(more)) line[more] = expected[more];
  }
  const Json* row = kind == "step" ? &report : row_of(report, kind, name);
  std::string wrong;
  if (row == nullptr) {
    wrong = "the report has no such row";
  } else {
    line["counted"] = kind == "step" ? sum_of(report, quantity) : value_of(*row, quantity);
    if (line["counted"].is_number()) {
      wrong = difference(expected, line["counted"].get<double>());
    } else if (expected.contains("may_be_null")) {
      line["unknown"] = {{"counted", expected["may_be_null"]}};
    } else {
      wrong = "the report does not know it";
    }
  }
  if (line["counted"].is_number() && expected.at("value").get<double>() > 0)
    line["ratio"] = line["counted"].get<double>() / expected.at("value").get<double>();
  line["agrees"] = wrong.empty();
  if (!wrong.empty()) line["wrong"] = wrong;
  return line;
}

}  // namespace

int truth(const Arguments& arguments) {
  if (arguments.size() != 2) throw std::invalid_argument("write truth REPORT EXPECTED");
  std::ifstream file(arguments[0]), known(arguments[1]);
  std::vector<Json> expected;
  for (std::string text; std::getline(known, text);) {
    Json json = Json::parse(text, nullptr, false);
    if (!json.is_object()) continue;
    if (json.contains("skipped")) {
      std::printf("%s\n", json.dump().c_str());
      return kExitSkipped;
    }
    expected.push_back(std::move(json));
  }
  const Json report = Json::parse(file, nullptr, false);
  if (!report.is_object() || !report.contains("kernels")) {
    std::printf("{\"what\":\"answer\",\"says\":\"no report was written\",\"agrees\":false}\n");
    return 1;
  }
  std::size_t wrong = 0;
  std::string first;
  for (const Json& one : expected) {
    const Json line = compared(report, one);
    std::printf("%s\n", line.dump().c_str());
    if (line.at("agrees").get<bool>()) continue;
    if (++wrong == 1)
      first = "; first " + line.value("name", "") + " " + line.value("quantity", "") + ": " +
              line.at("counted").dump() + " for " + line.at("expected").dump();
  }
  const std::size_t all = expected.size();
  const bool good = all > 0 && wrong == 0;
  const Json answer = {{"what", "answer"},
                       {"says", std::to_string(all - wrong) + " of " + std::to_string(all) +
                                    " numbers agree" + first},
                       {"numbers", all},
                       {"wrong", wrong},
                       {"agrees", good}};
  std::printf("%s\n", answer.dump().c_str());
  return good ? 0 : 1;
}

}  // namespace gable::prove

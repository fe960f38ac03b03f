// SPDX-License-Identifier: Apache-2.0
// Typed reading of JSON objects, for the reader of reports.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "analysis/report.h"

namespace gable::json {

using Json = nlohmann::json;

// A field with the wrong type. The text names the field.
struct WrongField : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// An object of the report, and where it is: "layers[3].flops". Fields may be missing: a reader
// takes what is there.
class Object {
 public:
  Object(const Json& json, std::string where) : json_(json), where_(std::move(where)) {
    if (!json_.is_object()) throw WrongField(where_ + " is no object");
  }

  [[nodiscard]] const Json* find(const char* name) const {
    const auto found = json_.find(name);
    return found == json_.end() || found->is_null() ? nullptr : &*found;
  }
  [[nodiscard]] std::string at(const std::string& name) const {
    return where_.empty() ? name : where_ + "." + name;
  }

  void read(const char* name, std::string& out) const {
    if (const Json* value = find(name)) out = text(*value, at(name));
  }
  void read(const char* name, bool& out) const {
    const Json* value = find(name);
    if (value == nullptr) return;
    if (!value->is_boolean()) throw WrongField(at(name) + " is neither true nor false");
    out = value->get<bool>();
  }
  void read(const char* name, Maybe& out) const {
    if (const Json* value = find(name)) out = number(*value, at(name));
  }
  void read(const char* name, double& out) const {
    if (const Json* value = find(name)) out = number(*value, at(name));
  }
  template <typename Integer>
  requires std::is_integral_v<Integer>
  void read(const char* name, Integer& out) const {
    if (const Json* value = find(name)) out = integer<Integer>(*value, at(name));
  }
  void read(const char* name, std::optional<std::int64_t>& out) const {
    if (const Json* value = find(name)) out = integer<std::int64_t>(*value, at(name));
  }
  void read(const char* name, std::vector<std::string>& out) const {
    each(name,
         [&](const Json& value, const std::string& where) { out.push_back(text(value, where)); });
  }
  void read(const char* name, std::vector<std::int64_t>& out) const {
    each(name, [&](const Json& value, const std::string& where) {
      out.push_back(integer<std::int64_t>(value, where));
    });
  }
  void read(const char* name, std::map<std::string, Maybe>& out) const {
    const Json* value = find(name);
    if (value == nullptr) return;
    if (!value->is_object()) throw WrongField(at(name) + " is no object");
    for (const auto& [key, item] : value->items()) {
      out[key] = item.is_null() ? Maybe() : Maybe(number(item, at(name) + "." + key));
    }
  }
  void read(const char* name, Dim3& out) const {
    std::vector<std::uint32_t> parts;
    each(name, [&](const Json& value, const std::string& where) {
      parts.push_back(integer<std::uint32_t>(value, where));
    });
    if (find(name) == nullptr) return;
    if (parts.size() != 3) throw WrongField(at(name) + " is no list of three numbers");
    out = {parts[0], parts[1], parts[2]};
  }
  // Calls `visit(object)` when the field is there.
  template <typename Visit>
  void inside(const char* name, Visit visit) const {
    if (const Json* value = find(name)) visit(Object(*value, at(name)));
  }
  template <typename Visit>
  void objects(const char* name, Visit visit) const {
    each(name, [&](const Json& value, const std::string& where) { visit(Object(value, where)); });
  }

 private:
  template <typename Visit>
  void each(const char* name, Visit visit) const {
    const Json* value = find(name);
    if (value == nullptr) return;
    if (!value->is_array()) throw WrongField(at(name) + " is no list");
    std::size_t index = 0;
    for (const Json& item : *value) visit(item, at(name) + "[" + std::to_string(index++) + "]");
  }
  static std::string text(const Json& value, const std::string& where) {
    if (!value.is_string()) throw WrongField(where + " is no text");
    return value.get<std::string>();
  }
  static double number(const Json& value, const std::string& where) {
    if (!value.is_number()) throw WrongField(where + " is no number");
    return value.get<double>();
  }
  template <typename Integer>
  static Integer integer(const Json& value, const std::string& where) {
    if (!value.is_number_integer()) throw WrongField(where + " is no whole number");
    const bool fits = value.is_number_unsigned()
                          ? value.get<std::uint64_t>() <=
                                static_cast<std::uint64_t>(std::numeric_limits<Integer>::max())
                          : value.get<std::int64_t>() >=
                                static_cast<std::int64_t>(std::numeric_limits<Integer>::min());
    if (!fits) throw WrongField(where + " is out of range");
    return value.get<Integer>();
  }

  const Json& json_;
  std::string where_;
};

}  // namespace gable::json

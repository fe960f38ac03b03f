// SPDX-License-Identifier: Apache-2.0
// Typed reading of JSON objects, for the reader of reports.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <rapidjson/document.h>

#include "analysis/report/report.h"

namespace gable::json {

// Reports of ranks are many and large: this reads seven times as fast as the library that writes
// them.
using Json = rapidjson::Value;

// A field with the wrong type. The text names the field.
struct WrongField : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The position of a value: "layers[3].flops". It becomes text only for an error, since a report has
// many fields.
struct Where {
  const Where* parent = nullptr;
  const char* name = "";
  std::size_t index = kNoIndex;
  static constexpr std::size_t kNoIndex = ~std::size_t{0};

  [[nodiscard]] std::string text() const {
    const std::string before = parent == nullptr ? std::string() : parent->text();
    if (index != kNoIndex) return before + "[" + std::to_string(index) + "]";
    return before.empty() ? name : before + "." + name;
  }
};

// An object of the report, and where it is; that must live as long. Fields may be missing: a reader
// takes what is there.
// Everything that a report counts or measures is 0 or more.
class Object {
 public:
  Object(const Json& json, const Where& where) : json_(json), where_(where) {
    if (!json_.IsObject()) throw WrongField(where_.text() + " is not an object");
  }

  [[nodiscard]] const Json* find(const char* name) const {
    const auto found = json_.FindMember(name);
    return found == json_.MemberEnd() || found->value.IsNull() ? nullptr : &found->value;
  }
  [[nodiscard]] Where at(const char* name) const { return {&where_, name}; }

  void read(const char* name, std::string& out) const {
    if (const Json* value = find(name)) out = text(*value, at(name));
  }
  void read(const char* name, bool& out) const {
    const Json* value = find(name);
    if (value == nullptr) return;
    if (!value->IsBool()) throw WrongField(at(name).text() + " is neither true nor false");
    out = value->GetBool();
  }
  void read(const char* name, Maybe& out) const {
    if (const Json* value = find(name)) out = number(*value, at(name));
  }
  void read(const char* name, double& out) const {
    if (const Json* value = find(name)) out = number(*value, at(name));
  }
  // A count per unit, which may be fractional: 0.5 launches per step.
  template <typename Number>
  void read_count(const char* name, Number& out) const {
    const Json* value = find(name);
    if (value == nullptr) return;
    const double count = number(*value, at(name));
    if (count > kMostCounted) throw WrongField(at(name).text() + " is out of range");
    out = count;
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
    each(name, [&](const Json& value, const Where& where) { out.push_back(text(value, where)); });
  }
  void read(const char* name, std::vector<std::int64_t>& out) const {
    each(name, [&](const Json& value, const Where& where) {
      out.push_back(integer<std::int64_t>(value, where));
    });
  }
  void read(const char* name, std::map<std::string, Maybe>& out) const {
    const Json* value = find(name);
    if (value == nullptr) return;
    if (!value->IsObject()) throw WrongField(at(name).text() + " is not an object");
    const Where where = at(name);
    for (auto item = value->MemberBegin(); item != value->MemberEnd(); ++item) {
      // Written in the map's own order.
      out.emplace_hint(out.end(), text(item->name, where),
                       item->value.IsNull()
                           ? Maybe()
                           : Maybe(number(item->value, {&where, item->name.GetString()})));
    }
  }
  void read(const char* name, Dim3& out) const {
    std::vector<std::uint32_t> parts;
    each(name, [&](const Json& value, const Where& where) {
      parts.push_back(integer<std::uint32_t>(value, where));
    });
    if (find(name) == nullptr) return;
    if (parts.size() != 3) throw WrongField(at(name).text() + " is not a list of three numbers");
    out = {parts[0], parts[1], parts[2]};
  }
  // Calls `visit(object)` if the field exists.
  template <typename Visit>
  void inside(const char* name, Visit visit) const {
    const Where where = at(name);
    if (const Json* value = find(name)) visit(Object(*value, where));
  }
  template <typename Visit>
  void objects(const char* name, Visit visit) const {
    each(name, [&](const Json& value, const Where& where) { visit(Object(value, where)); });
  }

 private:
  static constexpr double kLargest = 1e30;                    // sums of such values stay finite
  static constexpr double kMostCounted = 9007199254740992.0;  // 2^53: exact up to here

  template <typename Visit>
  void each(const char* name, Visit visit) const {
    const Json* value = find(name);
    if (value == nullptr) return;
    if (!value->IsArray()) throw WrongField(at(name).text() + " is not a list");
    std::size_t index = 0;
    const Where list = at(name);
    for (const Json& item : value->GetArray()) visit(item, Where{&list, "", index++});
  }
  static std::string text(const Json& value, const Where& where) {
    if (!value.IsString()) throw WrongField(where.text() + " is not a text");
    return {value.GetString(), value.GetStringLength()};
  }
  static double number(const Json& value, const Where& where) {
    if (!value.IsNumber()) throw WrongField(where.text() + " is not a number");
    const double number = value.GetDouble();
    if (number < 0) throw WrongField(where.text() + " is negative");
    if (number > kLargest) throw WrongField(where.text() + " is out of range");
    return number;
  }
  template <typename Integer>
  static Integer integer(const Json& value, const Where& where) {
    if (!value.IsInt64() && !value.IsUint64())
      throw WrongField(where.text() + " is not a whole number");
    const bool fits = value.IsUint64() ? std::in_range<Integer>(value.GetUint64())
                                       : std::in_range<Integer>(value.GetInt64());
    if (!fits || (value.IsInt64() && value.GetInt64() < 0))
      throw WrongField(where.text() + (fits ? " is negative" : " is out of range"));
    return value.IsUint64() ? static_cast<Integer>(value.GetUint64())
                            : static_cast<Integer>(value.GetInt64());
  }

  const Json& json_;
  const Where& where_;
};

// Parses the text. If it is not JSON, throws NoJson with the position of the error, in bytes from
// 1.
struct NoJson {
  std::size_t byte = 0;
  bool too_large = false;  // a number is too large for a double
};
[[nodiscard]] rapidjson::Document parsed(std::string_view text);

}  // namespace gable::json

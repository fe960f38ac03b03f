// SPDX-License-Identifier: Apache-2.0
#include "analysis/report/report_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "analysis/report/report_fields.h"

namespace gable {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kExactIntegers = 9007199254740992.0;  // 2^53

template <typename Value>
Json json_of(const Value& value) {
  return value;
}
// Whole numbers without ".0": counts and bytes read as what they are.
Json json_of(double value) {
  if (!std::isfinite(value)) return nullptr;
  if (std::floor(value) == value && std::abs(value) < kExactIntegers)
    return static_cast<std::int64_t>(value);
  return value;
}
template <typename Value>
Json json_of(const std::optional<Value>& value) {
  return value ? json_of(*value) : Json(nullptr);
}
Json json_of(const std::map<std::string, Maybe>& values) {
  Json out = Json::object();
  for (const auto& [name, value] : values) out[name] = json_of(value);
  return out;
}
Json json_of(const Dim3& dim) {
  return dim.x == 0 ? Json(nullptr) : Json::array({dim.x, dim.y, dim.z});
}

bool is_known(const std::string& text) { return !text.empty(); }
bool is_known(const Dim3& dim) { return dim.x != 0; }
template <typename Number>
bool is_known(const Number& number) {
  return number > 0;
}

class Writer {
 public:
  explicit Writer(Json& out) : out_(out) { out_ = Json::object(); }

  void operator()(const char* name, const auto& value) { out_[name] = json_of(value); }
  template <typename T>
  void needed(const char* name, const T& value) {
    if constexpr (std::is_class_v<T>)
      object(name, value);
    else
      out_[name] = json_of(value);
  }
  void known(const char* name, const auto& value) {
    out_[name] = is_known(value) ? json_of(value) : Json(nullptr);
  }
  void count(const char* name, const auto& value) { out_[name] = json_of(value); }
  void derived(const char* name, const auto& value) { out_[name] = json_of(value); }
  void word(const char* name, const auto& value) {
    const auto word = word_of(value);
    out_[name] = word.empty() ? Json(nullptr) : Json(word);
  }
  void inside(const char* name, const auto& visit) {
    Writer in(out_[name]);
    visit(in);
  }
  template <typename Struct>
  void object(const char* name, const Struct& value) {
    Writer in(out_[name]);
    fields(in, value);
  }
  template <typename Struct>
  void object(const char* name, const std::optional<Struct>& value) {
    if (value)
      object(name, *value);
    else
      out_[name] = nullptr;
  }
  // `visit`: what the fields of each are, where that is not `fields`.
  template <typename Struct>
  void list(const char* name, const std::vector<Struct>& values, const auto& visit) {
    Json& list = out_[name] = Json::array();
    for (const Struct& value : values) {
      Writer in(list.emplace_back());
      visit(in, value);
    }
  }
  template <typename Struct>
  void list(const char* name, const std::vector<Struct>& values) {
    list(name, values, [](Writer& in, const Struct& value) { fields(in, value); });
  }
  template <typename Struct>
  void list(const char* name, const std::optional<std::vector<Struct>>& values) {
    if (values)
      list(name, *values);
    else
      out_[name] = nullptr;
  }

 private:
  Json& out_;
};

}  // namespace

std::string to_json(const Report& report) {
  Json out;
  Writer writer(out);
  fields(writer, report);
  return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
#include "analysis/report/report_json.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

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

// The report's own fields, each as text as soon as it is visited, and of lists each element: a
// report may have some 100,000 rows, which take many times as much memory as values of Json.
class TopWriter {
 public:
  explicit TopWriter(std::string& text) : text_(text) {}

  void inside(const char* name, const auto& visit) {
    write(name, [&](Writer& to) { to.inside(name, visit); });
  }
  void object(const char* name, const auto& value) {
    write(name, [&](Writer& to) { to.object(name, value); });
  }
  template <typename Struct>
  void list(const char* name, const std::vector<Struct>& values, const auto& visit) {
    if (values.empty()) return write(name, [&](Writer& to) { to.list(name, values, visit); });
    begin(name);
    const std::size_t from = text_.size();
    std::size_t done = 0;
    for (const Struct& value : values) {
      Json element;
      Writer in(element);
      visit(in, value);
      text_ += done == 0 ? "[\n  " : ",\n  ";
      add(element, "\n  ");
      if (++done == kSample) reserve((text_.size() - from) / kSample * (values.size() - done));
    }
    text_ += "\n ]";
  }
  template <typename Struct>
  void list(const char* name, const std::vector<Struct>& values) {
    list(name, values, [](Writer& in, const Struct& value) { fields(in, value); });
  }
  void end() { text_ += "\n}\n"; }

 private:
  static constexpr std::size_t kSample = 1000;

  // A text that outgrows its room is there twice meanwhile.
  void reserve(std::size_t more) { text_.reserve(text_.size() + more + more / 8); }
  void begin(const char* name) {
    text_ += text_.empty() ? "{\n " : ",\n ";
    text_ += Json(name).dump() + ": ";
  }
  void write(const char* name, const auto& fill) {
    Json one;
    Writer to(one);
    fill(to);
    begin(name);
    add(one[name], "\n ");
  }
  // `line`: what each line but the first begins with.
  void add(const Json& json, std::string_view line) {
    const std::string text = json.dump(1, ' ', false, Json::error_handler_t::replace);
    std::size_t at = 0;
    for (std::size_t end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
      text_.append(text, at, end - at).append(line);
    text_.append(text, at);
  }

  std::string& text_;
};

}  // namespace

std::string to_json(const Report& report) {
  std::string text;
  TopWriter writer(text);
  fields(writer, report);
  writer.end();
  return text;
}

}  // namespace gable

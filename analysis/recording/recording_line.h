// SPDX-License-Identifier: Apache-2.0
// One line of a recording: typed access to its fields. The first error is kept as a sentence;
// fields read after it get defaults. Used by the reader only.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "analysis/events/events.h"
#include "analysis/recording/recording.h"

namespace gable {

class RecordingLine {
 public:
  RecordingLine(nlohmann::json object, std::string where)
      : object_(std::move(object)), where_(std::move(where)) {
    used_.insert("comment");
  }

  [[nodiscard]] const std::string& error() const { return error_; }
  void fail(const std::string& what) {
    if (error_.empty()) error_ = where_ + ": " + what + ".";
  }
  [[nodiscard]] bool has(const char* key) const { return object_.contains(key); }

  std::string text(const char* key, const std::string& otherwise = {}, bool required = false) {
    const nlohmann::json* field = find(key, required);
    if (field == nullptr) return otherwise;
    if (!field->is_string()) {
      fail(quoted(key) + " must be text");
      return otherwise;
    }
    return field->get<std::string>();
  }

  // A whole number within [least, most].
  template <typename T>
  T whole(const char* key, T otherwise = {}, bool required = false, T least = 0,
          T most = std::numeric_limits<T>::max()) {
    const nlohmann::json* field = find(key, required);
    return field == nullptr ? otherwise : whole_value<T>(*field, key, otherwise, least, most);
  }

  double number(const char* key, double otherwise) {
    const nlohmann::json* field = find(key, false);
    if (field == nullptr) return otherwise;
    if (!field->is_number()) {
      fail(quoted(key) + " must be a number");
      return otherwise;
    }
    return field->get<double>();
  }

  Dim3 dim(const char* key) {
    Dim3 dim;
    const nlohmann::json* field = find(key, false);
    if (field == nullptr) return dim;
    if (!field->is_array() || field->size() != 3) {
      fail(quoted(key) + " must be three whole numbers");
      return dim;
    }
    std::uint32_t* parts[] = {&dim.x, &dim.y, &dim.z};
    for (std::size_t i = 0; i < 3; ++i)
      *parts[i] = whole_value<std::uint32_t>((*field)[i], key, 1, 1, 2147483647u);
    return dim;
  }

  std::pair<int, int> pair(const char* key) {
    const nlohmann::json* field = find(key, false);
    if (field == nullptr || !field->is_array() || field->size() != 2) {
      fail(quoted(key) + " must be two whole numbers");
      return {};
    }
    return {whole_value<int>((*field)[0], key, 0, 0, 99),
            whole_value<int>((*field)[1], key, 0, 0, 99)};
  }

  // Reads a list of objects; `read` gets each one as a line.
  template <typename Read>
  void each(const char* key, Read read) {
    const nlohmann::json* field = find(key, false);
    if (field == nullptr) return;
    if (!field->is_array()) return fail(quoted(key) + " must be a list");
    for (const auto& item : *field) {
      if (!item.is_object()) return fail(quoted(key) + " must be a list of objects");
      RecordingLine line(item, where_);
      read(line);
      line.no_other_fields();
      if (error_.empty()) error_ = line.error();
    }
  }

  CounterValues counters(const char* key) {
    CounterValues values;
    const nlohmann::json* field = find(key, false);
    if (field == nullptr) return values;
    if (!field->is_object()) {
      fail(quoted(key) + " must be an object of metric names and values");
      return values;
    }
    for (const auto& [metric, value] : field->items()) {
      if (value.is_null()) {
        values[metric] = std::numeric_limits<double>::quiet_NaN();
      } else if (value.is_number()) {
        values[metric] = value.get<double>();
      } else {
        fail("the counter " + quoted(metric) + " must be a number or null");
      }
    }
    return values;
  }

  std::vector<std::string> texts(const char* key) {
    std::vector<std::string> values;
    const nlohmann::json* field = find(key, false);
    if (field == nullptr) return values;
    bool good = field->is_array();
    for (std::size_t i = 0; good && i < field->size(); ++i) {
      good = (*field)[i].is_string();
      if (good) values.push_back((*field)[i].get<std::string>());
    }
    if (!good) fail(quoted(key) + " must be a list of texts");
    return values;
  }

  // Called after all fields have been read: any other field is a spelling mistake.
  void no_other_fields() {
    for (const auto& [key, value] : object_.items()) {
      if (used_.count(key) == 0)
        fail("there is no field " + quoted(key) + " in a line of this kind");
    }
  }

  static std::string quoted(const std::string& name) { return "\"" + name + "\""; }

 private:
  const nlohmann::json* find(const char* key, bool required) {
    used_.insert(key);
    const auto it = object_.find(key);
    if (it != object_.end()) return &*it;
    if (required) fail("the field " + quoted(key) + " is missing");
    return nullptr;
  }

  template <typename T>
  T whole_value(const nlohmann::json& value, const char* key, T otherwise, T least, T most) {
    bool good = value.is_number();
    T result = otherwise;
    if (good && value.is_number_float()) {
      const double d = value.get<double>();
      good =
          d == std::floor(d) && std::abs(d) < 9e15 && (d >= 0 || std::numeric_limits<T>::is_signed);
      if (good) result = static_cast<T>(d);
      good = good && static_cast<double>(result) == d;
    } else if (good && value.is_number_unsigned()) {
      const auto u = value.get<std::uint64_t>();
      good = u <= static_cast<std::uint64_t>(std::numeric_limits<T>::max());
      if (good) result = static_cast<T>(u);
    } else if (good) {
      const auto i = value.get<std::int64_t>();
      good = std::numeric_limits<T>::is_signed &&
             i >= static_cast<std::int64_t>(std::numeric_limits<T>::min());
      if (good) result = static_cast<T>(i);
    }
    if (!good || result < least || result > most) {
      fail(quoted(key) + " must be a whole number from " + std::to_string(least) + " to " +
           std::to_string(most));
      return otherwise;
    }
    return result;
  }

  nlohmann::json object_;
  std::string where_, error_;
  std::set<std::string> used_;
};

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
#include "analysis/report/json_object.h"

#include <rapidjson/encodedstream.h>
#include <rapidjson/memorystream.h>

#include <charconv>
#include <cstdlib>
#include <string>

namespace gable::json {
namespace {

// Takes numbers as they are written and turns them into values itself: RapidJSON 1.1 reads beyond
// a table when it makes a double of 0.000… with 350 zeros.
struct ExactNumbers : rapidjson::Document {
  bool RawNumber(const char* text, rapidjson::SizeType length, bool /*copy*/) {
    const char* end = text + length;
    std::int64_t whole = 0;
    if (const auto [last, code] = std::from_chars(text, end, whole);
        last == end && code == std::errc())
      return Int64(whole);
    std::uint64_t positive = 0;
    if (const auto [last, code] = std::from_chars(text, end, positive);
        last == end && code == std::errc())
      return Uint64(positive);
    double number = 0;
    if (std::from_chars(text, end, number).ec == std::errc()) return Double(number);
    // Too large for a double, or too small, which is 0 then.
    return std::strtod(std::string(text, length).c_str(), nullptr) == 0 && Double(0);
  }
};

}  // namespace

rapidjson::Document parsed(std::string_view text) {
  // Iterative: a file of brackets must not end the stack.
  constexpr unsigned kFlags = rapidjson::kParseValidateEncodingFlag |
                              rapidjson::kParseNumbersAsStringsFlag |
                              rapidjson::kParseIterativeFlag;
  ExactNumbers document;
  rapidjson::Reader reader;
  rapidjson::MemoryStream bytes(text.data(), text.size());
  rapidjson::EncodedInputStream<rapidjson::UTF8<>, rapidjson::MemoryStream> stream(bytes);
  const auto read = [&](rapidjson::Document&) {
    return !reader.Parse<kFlags>(stream, document).IsError();
  };
  document.Populate(read);
  if (reader.HasParseError()) {
    const auto code = reader.GetParseErrorCode();
    throw NoJson{reader.GetErrorOffset() + 1, code == rapidjson::kParseErrorTermination ||
                                                  code == rapidjson::kParseErrorNumberTooBig};
  }
  return document;
}

}  // namespace gable::json

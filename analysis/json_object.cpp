// SPDX-License-Identifier: Apache-2.0
#include "analysis/json_object.h"

namespace gable::json {

rapidjson::Document parsed(std::string_view text) {
  // Iterative: a file of brackets must not end the stack.
  constexpr unsigned kFlags = rapidjson::kParseValidateEncodingFlag |
                              rapidjson::kParseFullPrecisionFlag | rapidjson::kParseIterativeFlag;
  rapidjson::Document document;
  document.Parse<kFlags>(text.data(), text.size());
  if (document.HasParseError()) throw NoJson{document.GetErrorOffset() + 1};
  return document;
}

}  // namespace gable::json

// SPDX-License-Identifier: Apache-2.0
// What an experiment leaves: lines as it prints them, and how it ended.
#include <fstream>
#include <iostream>
#include <stdexcept>

#include "tests/gpu/prove/lines.h"
#include "tests/gpu/prove/parts.h"

namespace gable::prove {
namespace {

Json head_of(const std::string& text) {
  Json head = Json::parse(text, nullptr, false);
  if (!head.is_object()) throw std::invalid_argument("HEAD is a JSON object, not " + text);
  return head;
}

void want(const Arguments& arguments, std::size_t count, const char* usage) {
  if (arguments.size() < count) throw std::invalid_argument(std::string("write ") + usage);
}

}  // namespace

int tag(const Arguments& arguments) {
  want(arguments, 3, "tag RESULTS LOG HEAD");
  const Json head = head_of(arguments[2]);
  std::ofstream log(arguments[1], std::ios::app);
  for (std::string text; std::getline(std::cin, text);) {
    const Json printed =
        text.empty() || text.front() != '{' ? Json() : Json::parse(text, nullptr, false);
    if (printed.is_object()) {
      append_line(arguments[0], result_line(head, printed));
    } else {
      log << text << std::endl;
    }
  }
  return 0;
}

int skip(const Arguments& arguments) {
  want(arguments, 3, "skip RESULTS HEAD REASON");
  append_line(arguments[0], result_line(head_of(arguments[1]), {{"skipped", arguments[2]}}));
  return 0;
}

int end(const Arguments& arguments) {
  want(arguments, 4, "end RESULTS HEAD EXIT SECONDS");
  Json line = head_of(arguments[1]);
  line["what"] = "end";
  line["exit"] = std::stoi(arguments[2]);
  line["seconds"] = std::stod(arguments[3]);
  append_line(arguments[0], line);
  return 0;
}

int finished(const Arguments& arguments) {
  want(arguments, 2, "finished RESULTS EXPERIMENT [--good]");
  const bool good = arguments.size() > 2 && arguments[2] == "--good";
  for (const Experiment& one : read_results(arguments[0])) {
    if (one.name != arguments[1] || !one.ended()) continue;
    const int code = one.exit_code();
    return !good || code == 0 || code == kExitSkipped ? 0 : 1;
  }
  return 1;
}

}  // namespace gable::prove

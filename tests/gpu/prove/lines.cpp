// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/prove/lines.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <system_error>

namespace gable::prove {
namespace {

std::string text_of(const Json& line, const char* name) {
  const auto found = line.find(name);
  return found != line.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Experiment& experiment_of(std::vector<Experiment>& all, const Json& line) {
  const std::string stage = text_of(line, "stage"), name = text_of(line, "experiment");
  const auto found = std::find_if(all.begin(), all.end(), [&](const Experiment& one) {
    return one.stage == stage && one.name == name;
  });
  if (found == all.end()) return all.emplace_back(Experiment{stage, name, {}, {}, {}});
  if (found->ended()) *found = Experiment{stage, name, {}, {}, {}};  // it was run again
  return *found;
}

}  // namespace

int Experiment::exit_code() const { return ended() ? end.value("exit", -1) : -1; }

std::vector<Experiment> read_results(const std::string& path) {
  std::vector<Experiment> all;
  std::ifstream file(path);
  for (std::string text; std::getline(file, text);) {
    const Json line = Json::parse(text, nullptr, false);
    if (!line.is_object()) continue;
    const std::string what = text_of(line, "what");
    Experiment& experiment = experiment_of(all, line);
    if (what == "end") {
      experiment.end = line;
    } else if (what == "skipped") {
      experiment.skipped = text_of(line, "reason");
    } else {
      experiment.results.push_back(line);
    }
  }
  return all;
}

Json result_line(const Json& head, const Json& printed) {
  Json line = head;
  if (printed.contains("skipped")) {
    line["what"] = "skipped";
    line["reason"] = printed.at("skipped");
    return line;
  }
  const std::string what = text_of(printed, "what");
  line["what"] = what.empty() ? "result" : what;
  Json fields = Json::object();
  for (const auto& [name, value] : printed.items()) {
    if (name == "says" || name == "unknown") {
      line[name] = value;
    } else if (name != "what") {
      fields[name] = value;
    }
  }
  line["fields"] = std::move(fields);
  return line;
}

void append_line(const std::string& path, const Json& line) {
  const std::string text = line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) throw std::system_error(errno, std::generic_category(), path);
  const bool whole = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close(file);
  if (!whole) throw std::system_error(ENOSPC, std::generic_category(), path);
}

}  // namespace gable::prove

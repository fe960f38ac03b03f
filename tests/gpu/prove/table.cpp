// SPDX-License-Identifier: Apache-2.0
// The one table that a run of prove.sh ends with.
#include <cstdio>
#include <sstream>

#include "tests/gpu/prove/lines.h"
#include "tests/gpu/prove/parts.h"

namespace gable::prove {
namespace {

constexpr std::size_t kWidth = 100, kName = 25, kHow = 10, kSeconds = 7;
constexpr std::size_t kSays = kWidth - kName - kHow - kSeconds - 3;

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }  // UTF-8

std::size_t characters(const std::string& text) {
  std::size_t count = 0;
  for (const char c : text) count += continues(c) ? 0 : 1;
  return count;
}

std::string cut(const std::string& text, std::size_t width) {
  if (characters(text) <= width) return text;
  std::string kept;
  std::size_t count = 0;
  for (const char c : text) {
    if (!continues(c) && ++count == width) break;
    kept += c;
  }
  return kept + "…";
}

std::string left_aligned(const std::string& text, std::size_t width) {
  const std::string shown = cut(text, width);
  return shown + std::string(width - characters(shown), ' ');
}

std::string right_aligned(const std::string& text, std::size_t width) {
  const std::string shown = cut(text, width);
  return std::string(width - characters(shown), ' ') + shown;
}

// At most three lines of text, broken between words.
std::vector<std::string> wrapped(const std::string& text) {
  std::vector<std::string> lines(1);
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    std::string& line = lines.back();
    if (!line.empty() && characters(line) + 1 + characters(word) > kSays && lines.size() < 3) {
      lines.push_back(word);
    } else {
      line += (line.empty() ? "" : " ") + word;
    }
  }
  return lines;
}

std::string row(const std::string& name, const std::string& how, const std::string& seconds,
                const std::string& says) {
  const std::vector<std::string> lines = wrapped(says);
  std::string rows;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string line = left_aligned(i == 0 ? name : "", kName) + " " +
                       left_aligned(i == 0 ? how : "", kHow) + " " +
                       right_aligned(i == 0 ? seconds : "", kSeconds) + " " + cut(lines[i], kSays);
    while (!line.empty() && line.back() == ' ') line.pop_back();
    rows += line + "\n";
  }
  return rows;
}

std::string how_of(const Experiment& one) {
  const int code = one.exit_code();
  if (!one.ended()) return "cut off";
  if (code == kExitTimedOut || code == kExitKilled) return "timed out";
  if (!one.skipped.empty() && (code == 0 || code == kExitSkipped)) return "skipped";
  return code == 0 ? "done" : "failed " + std::to_string(code);
}

// The last sentence that the experiment gave, else its last result's fields.
std::string says_of(const Experiment& one) {
  if (!one.skipped.empty()) return one.skipped;
  std::string fields;
  for (auto line = one.results.rbegin(); line != one.results.rend(); ++line) {
    if (line->contains("says") && (*line)["says"].is_string())
      return (*line)["says"].get<std::string>();
    if (!fields.empty() || !line->contains("fields")) continue;
    for (const auto& [name, value] : (*line)["fields"].items())
      fields += (fields.empty() ? "" : ", ") + name + " " +
                (value.is_string() ? value.get<std::string>() : value.dump());
  }
  return fields;
}

std::string seconds_of(const Experiment& one) {
  if (!one.ended() || !one.end.contains("seconds")) return "";
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", one.end["seconds"].get<double>());
  return text;
}

std::string title_of(const Experiment& one) {
  const Json& line = one.ended() ? one.end : one.results.empty() ? Json::object() : one.results[0];
  const std::string gpu = line.value("gpu", "unknown GPU");
  std::string title = one.stage + " · ";
  if (line.value("source", "") == "playback") {
    title += "PLAYBACK: rehearsed on the playback GPU, nothing here is measured";
  } else {
    const auto cupti = line.find("cupti");
    title += gpu + ", driver " + line.value("driver", "unknown") + ", CUPTI " +
             (cupti == line.end() ? "unknown" : cupti->dump());
  }
  return cut(title, kWidth) + "\n";
}

}  // namespace

Table table_of(const std::vector<std::string>& results, const std::vector<std::string>& left) {
  Table table;
  std::string stage;
  for (const std::string& path : results) {
    for (const Experiment& one : read_results(path)) {
      if (one.stage != stage) {
        if (!stage.empty()) table.text += "\n";
        table.text += title_of(one);
        table.text += row("experiment", "ended", "seconds", "what came out");
        stage = one.stage;
      }
      const std::string how = how_of(one);
      if (how != "done" && how != "skipped") table.good = false;
      table.text += row(one.name, how, seconds_of(one), says_of(one));
    }
  }
  for (const std::string& name : left) {
    table.good = false;
    table.text += row(name, "left", "", "no time was left: run the stage again to go on");
  }
  return table;
}

int table(const Arguments& arguments) {
  std::vector<std::string> results, left;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--left" && i + 1 < arguments.size()) {
      left.push_back(arguments[++i]);
    } else {
      results.push_back(arguments[i]);
    }
  }
  const Table table = table_of(results, left);
  std::fputs(table.text.c_str(), stdout);
  return table.good ? 0 : 1;
}

}  // namespace gable::prove

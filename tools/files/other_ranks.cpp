// SPDX-License-Identifier: Apache-2.0
#include "tools/files/other_ranks.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "analysis/base/pattern.h"
#include "collector/options/output_name.h"
#include "collector/options/rank_set.h"
#include "collector/options/shell_words.h"
#include "tools/files/report_file.h"

namespace gable {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr auto kLookAgain = std::chrono::milliseconds(100);
// Clocks of file servers, and what they round away.
constexpr auto kClocksDiffer = std::chrono::seconds(5);

// What is the same in the names of all ranks, in order; what differs stands between.
std::vector<std::string> literals_of(const std::string& output) {
  const std::string pattern = with_rank(output);
  std::vector<std::string> literals(1);
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const std::string_view rest = std::string_view(pattern).substr(i);
    const auto close = rest.find('}');
    const bool variable = rest.starts_with("%q{") && close != std::string_view::npos;
    if (rest.starts_with("%p") || rest.starts_with("%h") || rest.starts_with("%r") || variable) {
      literals.emplace_back();
      i += variable ? close : 1;
    } else {
      literals.back() += pattern[i];
    }
  }
  return literals;
}

// A glob of them, each written as `as` says.
template <class As>
std::string joined(const std::vector<std::string>& literals, const As& as) {
  std::string glob;
  for (std::size_t i = 0; i < literals.size(); ++i) glob += (i == 0 ? "" : "*") + as(literals[i]);
  return glob;
}

// Numbered names ("run-rank3-41.json") match too.
Pattern pattern_of(const std::string& name) {
  const auto literals = literals_of(name);
  return Pattern::parse(joined(literals,
                               [](const std::string& text) {
                                 std::string escaped;
                                 for (const char letter : text) {
                                   if (std::string_view("*?[\\").find(letter) !=
                                       std::string_view::npos)
                                     escaped += '\\';
                                   escaped += letter;
                                 }
                                 return escaped;
                               }))
      .pattern;
}

struct Seen {
  fs::file_time_type written;
  std::optional<std::int64_t> rank;  // none: no report, or of a process without a rank
  bool complete = false;
};

class Folder {
 public:
  explicit Folder(const RanksWanted& wanted)
      : wanted_(wanted),
        folder_(fs::path(expand_output_name(wanted.output)).parent_path()),
        name_(pattern_of(fs::path(wanted.output).filename().string())) {}

  void look() {
    std::error_code code;
    for (fs::directory_iterator at(folder_, code), end; !code && at != end; at.increment(code)) {
      const std::string path = at->path().string();
      if (!name_.matches(at->path().filename().string()) || is_own(path)) continue;
      std::error_code gone;
      const auto written = at->last_write_time(gone);
      if (gone || written < wanted_.since - kClocksDiffer) continue;
      const auto known = seen_.find(path);
      if (known == seen_.end() && seen_.size() >= kMostRanksShown) {
        further_.insert(path);
        continue;
      }
      if (known != seen_.end() && known->second.written == written) continue;
      Seen& file = seen_[path];
      file.written = written;
      const ParsedReport parsed = read_report_file(path);
      if (!parsed.report) continue;  // damaged, or no report: as if it were not there
      file.rank = parsed.report->run.rank;
      file.complete = parsed.report->run.complete;
    }
  }

  [[nodiscard]] bool all_complete() const {
    return std::all_of(seen_.begin(), seen_.end(),
                       [](const auto& file) { return !file.second.rank || file.second.complete; });
  }

  [[nodiscard]] std::vector<std::int64_t> missing() const {
    std::set<std::int64_t> there{wanted_.place.rank};
    for (const auto& [path, file] : seen_)
      if (file.rank) there.insert(*file.rank);
    std::vector<std::int64_t> ranks;
    for (std::int64_t rank = 0; rank < wanted_.place.size; ++rank)
      if (!leaves_out(wanted_.ranks, rank) && there.count(rank) == 0) ranks.push_back(rank);
    return ranks;
  }

  [[nodiscard]] OtherRanks result() const {
    OtherRanks others;
    std::multimap<std::int64_t, std::string> by_rank;
    for (const auto& [path, file] : seen_)
      if (file.rank) by_rank.emplace(*file.rank, path);
    for (auto& [rank, path] : by_rank) others.paths.push_back(path);
    others.further = further_.size();
    // Where there is none, the ranks have other folders; among too many, nobody knows which.
    if (!others.paths.empty() && others.further == 0) others.missing = missing();
    return others;
  }

 private:
  [[nodiscard]] bool is_own(const std::string& path) const {
    return std::find(wanted_.own.begin(), wanted_.own.end(), path) != wanted_.own.end();
  }

  const RanksWanted& wanted_;
  const fs::path folder_;
  const Pattern name_;
  std::map<std::string, Seen> seen_;
  std::set<std::string> further_;
};

}  // namespace

OtherRanks await_other_ranks(const RanksWanted& wanted) {
  if (names_rank(fs::path(wanted.output).parent_path().string())) return {};  // a folder for each
  const auto began = Clock::now();
  Folder folder(wanted);
  for (;;) {
    folder.look();
    const auto waited = Clock::now() - began;
    const bool none_missing = folder.missing().empty() || waited >= wanted.for_missing;
    const bool complete = folder.all_complete() || waited >= wanted.for_incomplete;
    if (none_missing && complete) return folder.result();
    std::this_thread::sleep_for(kLookAgain);
  }
}

std::string glob_of_ranks(const std::string& output) {
  return joined(literals_of(output),
                [](const std::string& text) { return text.empty() ? text : shell_quoted(text); });
}

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
#include "tools/files/report_files.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>

#include "collector/options/shell_words.h"
#include "tools/base/wrong_use.h"
#include "tools/files/report_file.h"
#include "tools/merge/merge.h"
#include "tools/show/slowest_rank.h"
#include "tools/show/table.h"

namespace gable {
namespace {

constexpr std::size_t kNarrowest = 60, kWidest = 140;

// As one would type it here.
std::string shown_path(const std::string& path) {
  std::error_code code;
  const std::string near = std::filesystem::proximate(path, code).string();
  return shell_quoted(code || near.empty() || near.rfind("..", 0) == 0 ? path : near);
}

std::string next_command(const ReportFiles& files, After after) {
  bool counters = false, steps = false, imported = true, too_short = true;
  for (const Report& report : files.reports) {
    counters = counters || report.run.steps.hw + report.run.steps.flops > 0;
    steps = steps || report.run.unit == Unit::step;
    imported = imported && report.run.source == Source::imported;
    const auto& had = report.run.steps;
    too_short = too_short && had.needed && had.hw + had.flops + had.time == 0;
  }
  if (imported) return {};
  if (too_short) return {};  // the table says how long it has to run
  if (!counters) return "gable doctor    (why there are times alone)";
  if (!steps) return "gable profile --step-range REGEX -- program args    (numbers of one step)";
  if (after == After::report) return {};
  std::string command = "gable report";
  if (!files.glob.empty()) return command + " " + files.glob;
  for (const std::string& path : files.paths) command += " " + shown_path(path);
  return command;
}

// Where the report of each rank is; none unless each report is of a rank of its own.
std::optional<std::map<std::int64_t, std::size_t>> places_by_rank(
    const std::vector<Report>& reports) {
  std::map<std::int64_t, std::size_t> places;
  for (std::size_t i = 0; i < reports.size(); ++i)
    if (!reports[i].run.rank || !places.emplace(*reports[i].run.rank, i).second)
      return std::nullopt;
  return places;
}

TableOptions options_for(After after) {
  TableOptions options;
  fit_terminal(options.columns, options.colours, after == After::profile);
  options.printed_notes = after != After::profile;
  return options;
}

}  // namespace

void check_each_once(const std::vector<std::string>& paths, const std::string& what) {
  for (std::size_t i = 1; i < paths.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      std::error_code code;
      if (std::filesystem::equivalent(paths[i], paths[j], code))
        throw WrongUse(paths[i] + " is given twice: name each " + what + " once.");
    }
  }
}

ReportFiles read_reports(const std::vector<std::string>& paths) {
  // Many ranks have many files: each core reads some of them.
  std::vector<ParsedReport> parsed(paths.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < paths.size(); i = next++)
      parsed[i] = read_report_file(paths[i]);
  };
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> helpers;
  for (std::size_t i = 1; i < std::min(cores, paths.size()); ++i) {
    try {
      helpers.emplace_back(work);
    } catch (const std::system_error&) {
      break;  // no more threads are to be had: those that are do the work
    }
  }
  work();
  for (std::thread& helper : helpers) helper.join();
  ReportFiles files;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (parsed[i].report) {
      files.reports.push_back(std::move(*parsed[i].report));
      files.paths.push_back(paths[i]);
    } else {
      files.problems.push_back(std::move(parsed[i].error));
    }
  }
  return files;
}

std::vector<std::string> take_out_earlier_queues(ReportFiles& files) {
  using Process = std::tuple<std::string, std::int64_t, std::optional<std::int64_t>, std::string>;
  const auto process_of = [](const RunInfo& run) {
    return Process(run.hostname, run.pid, run.rank, run.started_at);
  };
  const auto worth = [](const RunInfo& run) {
    return std::pair(run.steps.hw + run.steps.flops + run.steps.time > 0, run.queue.value_or(0));
  };
  std::map<Process, std::size_t> newest;  // of those with a queue: others are no live reports
  for (std::size_t i = 0; i < files.reports.size(); ++i) {
    const RunInfo& run = files.reports[i].run;
    if (!run.queue) continue;
    const auto [place, first] = newest.emplace(process_of(run), i);
    if (!first && worth(files.reports[place->second].run) < worth(run)) place->second = i;
  }
  ReportFiles left;
  std::vector<std::string> earlier;
  for (std::size_t i = 0; i < files.reports.size(); ++i) {
    const RunInfo& run = files.reports[i].run;
    if (run.queue && newest.at(process_of(run)) != i) {
      earlier.push_back(files.paths[i]);
      continue;
    }
    left.paths.push_back(files.paths[i]);
    left.reports.push_back(std::move(files.reports[i]));
  }
  files.reports = std::move(left.reports);
  files.paths = std::move(left.paths);
  return earlier;
}

void fit_terminal(std::size_t& columns, bool& colours, bool standard_error) {
  winsize size{};
  const int file = standard_error ? STDERR_FILENO : STDOUT_FILENO;
  const char *plain = std::getenv("NO_COLOR"), *terminal = std::getenv("TERM");
  colours = isatty(file) == 1 && (plain == nullptr || *plain == '\0') &&
            (terminal == nullptr || std::string_view(terminal) != "dumb");
  std::size_t wanted = 0;
  if (const char* given = std::getenv("COLUMNS"); given != nullptr)
    (void)std::from_chars(given, given + std::strlen(given), wanted);
  if (wanted < kNarrowest && ioctl(file, TIOCGWINSZ, &size) == 0) wanted = size.ws_col;
  if (wanted >= kNarrowest) columns = std::min<std::size_t>(wanted, kWidest);
}

std::string table_of(const ReportFiles& files, After after, const RowQuery& query,
                     std::size_t rows) {
  TableOptions options = options_for(after);
  options.query = query;
  options.rows = rows;
  options.next_command = next_command(files, after);
  return render_table(files.reports, options);
}

void sort_by_rank(ReportFiles& files) {
  const auto places = places_by_rank(files.reports);
  if (!places) return;
  ReportFiles sorted;
  for (const auto& [rank, place] : *places) {
    sorted.reports.push_back(std::move(files.reports[place]));
    sorted.paths.push_back(std::move(files.paths[place]));
  }
  files.reports.swap(sorted.reports);
  files.paths.swap(sorted.paths);
}

std::string table_of_job(const ReportFiles& files, After after) {
  if (files.reports.size() < 2 || !places_by_rank(files.reports)) return table_of(files, after);
  Merged merged = merge_reports(files.reports, files.paths);
  if (!merged.report) return table_of(files, after);  // as different GPUs, or steps and runs
  ReportFiles job{{std::move(*merged.report)}, files.paths, {}, files.glob};
  const std::string slowest = ranks_line(files.reports);
  return table_of(job, after) + (slowest.empty() ? slowest : slowest + "\n") +
         render_notes(files.reports, options_for(after));
}

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// gable profile: runs a program with the library injected, then prints one table of all reports
// that were written.
#include <dlfcn.h>
#include <signal.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "analysis/base/text_file.h"
#include "collector/options/ranks.h"
#include "collector/options/settings.h"
#include "tools/commands/command.h"
#include "tools/files/other_ranks.h"
#include "tools/files/report_files.h"
#include "tools/files/report_output.h"
#include "tools/launch/injection.h"
#include "tools/launch/install.h"
#include "tools/launch/launch.h"

namespace gable {
namespace {

namespace fs = std::filesystem;

// Reports belong where the user stands, not where the program or a child of it goes.
std::string anchored(const std::string& output) {
  if (output.rfind('/', 0) == 0) return output;
  const std::string folder = full_path("");
  return folder.find('%') != std::string::npos ? output : folder + output;  // its own % is none
}

std::string why_no_report(const Ended& ended, bool playback, bool launched) {
  const std::string none = "No report was written: ";
  if (ended.signal == SIGKILL) {
    return none + "the program was killed (SIGKILL) before anything had been collected.";
  }
  if (launched) {
    const std::string how =
        ended.signal != 0 ? "by signal " + std::to_string(ended.signal) : std::string("by _exit");
    return none + "the program launched kernels, but ended " + how +
           " before its windows were complete. Let it run longer "
           "(wait, warm-up, one step for each hardware pass and three more), or end by exit, by "
           "return from main or by SIGTERM.";
  }
  if (!playback && dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL) == nullptr) {
    return none +
           "this machine has no NVIDIA driver (libcuda.so.1), so the program launched no kernel; "
           "gable profile --playback REC shows a recording without a GPU.";
  }
  return none +
         "no CUDA kernel launch was seen in the program or in those it started; gable doctor tells "
         "whether launches can be seen here.";
}

class ProfileCommand final : public Command {
 public:
  void declare(CLI::App& app) override {
    read_environment();
    add_collection_options(app, settings_);
    app.get_option("--playback")->group("Options");
    app.add_flag("--force-inject", force_inject_);
    app.add_flag("-q,--quiet", quiet_);
    app.add_option("--html", html_)->type_name("OUT");
  }

  [[nodiscard]] bool takes_program() const override { return true; }

  int run() override {
    if (!wrong_environment_.empty()) throw WrongUse("GABLE_OPTIONS: " + wrong_environment_);
    if (const auto both = contradiction(settings_); !both.empty()) throw WrongUse(both);
    prepare_playback();
    if (program_.empty()) {
      throw WrongUse("There is no program to run: gable profile [options] -- program args.");
    }
    if (settings_.output == "-")
      throw WrongUse("--output takes the name of a file: standard output is the program's.");
    settings_.output = anchored(settings_.output);
    check_output_place(settings_.output, "--output");
    check_output_place(html_, "--html");
    prepare_recording();
    const std::string library = injected_library();
    if (library.empty()) throw WrongUse(no_injected_library());
    if (!settings_.cupti.empty()) settings_.cupti = full_path(settings_.cupti);

    const std::string holder = injection_holder(library);
    if (!holder.empty() && !force_inject_) {
      say("The program runs without being profiled, because another tool is already injected (" +
          holder + "): unset that variable, or take the tool's place with --force-inject.");
      clear_own_injection(library);
      return finish_unprofiled(run_program(program_));
    }
    const Manifest manifest;
    settings_.manifest = manifest.path();
    if (lacks_python_side(settings_)) say(no_python_side());
    set_injection(library, settings_);
    const Ended ended = run_program(program_);
    return finish(ended, manifest);
  }

 private:
  // GABLE_OPTIONS holds defaults here too; what an outer gable profile put there for its own use
  // does not count.
  void read_environment() {
    const char* text = std::getenv("GABLE_OPTIONS");
    if (text == nullptr) return;
    ParsedOptions given = parse_options(text);
    wrong_environment_ = given.error;
    settings_ = std::move(given.settings);
    settings_.manifest.clear();
    settings_.playback.clear();
  }

  void prepare_playback() {
    if (settings_.playback.empty()) return;
    const std::string folder = set_playback(settings_.playback);
    settings_.playback = full_path(settings_.playback);
    if (settings_.cupti.empty()) settings_.cupti = folder + "/libcupti.so.13";
    if (program_.empty()) program_ = {folder + "/gable-player", settings_.playback};
  }

  static void remove_former(const std::string& path, const char* mark) {
    if (!fs::exists(path)) return;
    std::string first(64, '\0');
    if (fs::is_regular_file(path)) {  // opening a pipe would wait for its writer
      std::ifstream file(path, std::ios::binary);
      file.read(first.data(), static_cast<std::streamsize>(first.size()));
    }
    if (first.find(mark) == std::string::npos) {
      throw WrongUse(
          path + " exists and is not a recording: give --record another name, or remove the file.");
    }
    fs::remove(path);
  }

  // A process writes its recording where nothing is yet: a former one goes, nothing else does.
  void prepare_recording() {
    if (settings_.record.empty()) return;
    settings_.record = anchored(settings_.record);
    check_output_place(settings_.record, "--record");
    if (settings_.record == settings_.playback) {
      throw WrongUse("--record names the recording that is played: give it another name.");
    }
    remove_former(settings_.record, "\"gable_recording\"");
    remove_former(fs::path(settings_.record).replace_extension(".images"), "gable_counter_images");
  }

  static int finish_unprofiled(const Ended& ended) {
    if (!ended.not_started.empty()) say(ended.not_started);
    return ended.exit_code;
  }

  int finish(const Ended& ended, const Manifest& manifest) const {
    if (!ended.not_started.empty()) return finish_unprofiled(ended);
    if (manifest.path().empty()) {
      say("No table is printed, because no temporary folder takes a file (see TMPDIR): gable "
          "report FILE prints the table of a report.");
      return ended.exit_code;
    }
    const auto written = manifest.read();
    std::vector<std::string> paths = that_are_there(written);
    OtherRanks others;
    const auto place = told_place();
    const bool first_rank = place && place->rank == 0;
    if (first_rank && !is_written_in_place(settings_.output)) {
      RanksWanted wanted{settings_.output, settings_.ranks, *place, paths, began_};
      // The launcher ends the other ranks once it sees that this one failed.
      if (ended.exit_code != 0) wanted.for_missing = wanted.for_incomplete = {};
      others = await_other_ranks(wanted);
    }
    paths.insert(paths.end(), others.paths.begin(), others.paths.end());
    if (paths.empty() && !written.empty()) return ended.exit_code;
    if (paths.empty() && manifest.saw_rank_left_out()) {
      // Where each rank has a launcher of its own, another one's report is wanted.
      if (!told_rank())
        say("No report was written: --ranks " + settings_.ranks + " leaves out every rank that " +
            "launched kernels.");
      return ended.exit_code;
    }
    if (paths.empty()) {
      say(why_no_report(ended, !settings_.playback.empty(), manifest.saw_launch()));
      return ended.exit_code;
    }
    // One table for the job, not one for each rank.
    if (place && !first_rank) return ended.exit_code;
    ReportFiles files = read_reports(paths);
    const std::vector<std::string> earlier = take_out_earlier_queues(files);
    sort_by_rank(files);
    for (const std::string& problem : files.problems) say(problem);
    if (!others.paths.empty()) files.glob = glob_of_ranks(settings_.output);
    if (!quiet_ && !files.reports.empty()) {
      const std::string table = table_of_job(files, After::profile);
      std::fwrite(table.data(), 1, table.size(), stderr);
    }
    if (files.glob.empty()) {
      for (const std::string& path : files.paths) print_line(stderr, "Report: " + path);
    } else {
      print_line(stderr,
                 "Reports of " + std::to_string(files.paths.size()) + " processes: " + files.glob);
    }
    if (!earlier.empty()) {
      print_line(stderr, earlier.size() == 1 ? "An earlier report of it: " + earlier.front()
                                             : std::to_string(earlier.size()) +
                                                   " earlier reports: " + earlier.front() + " to " +
                                                   earlier.back());
    }
    say_what_is_not_shown(others);
    if (!html_.empty() && !files.reports.empty()) write_page_too(files);
    return ended.exit_code;
  }

  static std::vector<std::string> that_are_there(const std::vector<Manifest::Entry>& written) {
    std::vector<std::string> paths;
    paths.reserve(written.size());
    // What went into a pipe or to a terminal was read there, and cannot be read again.
    for (const Manifest::Entry& entry : written) {
      if (is_written_in_place(entry.path)) continue;
      if (std::error_code code; fs::exists(entry.path, code))
        paths.push_back(entry.path);
      else
        say("No table is printed for " + entry.path + ": there is no such file.");
    }
    return paths;
  }

  static void say_what_is_not_shown(const OtherRanks& others) {
    if (others.further > 0)
      say("The table shows " + std::to_string(kMostRanksShown) + " other ranks; the reports of " +
          std::to_string(others.further) + " more are there too.");
    if (others.missing.empty()) return;
    std::string list;
    for (std::size_t i = 0; i < others.missing.size() && i < kMostNamed; ++i)
      list += (i == 0 ? "" : ", ") + std::to_string(others.missing[i]);
    if (others.missing.size() > kMostNamed)
      list += " and " + std::to_string(others.missing.size() - kMostNamed) + " others";
    say((others.missing.size() == 1 ? "There is no report of rank "
                                    : "There are no reports of ranks ") +
        list + " yet, so the table is without.");
  }

  // The program's exit code stands, whatever becomes of the page.
  void write_page_too(const ReportFiles& files) const {
    try {
      write_page(files, html_, stderr);
    } catch (const WrongUse& problem) {
      say(problem.what());
    }
  }

  static constexpr std::size_t kMostNamed = 8;

  Settings settings_;
  std::string wrong_environment_, html_;
  const fs::file_time_type began_ = fs::file_time_type::clock::now();
  bool force_inject_ = false, quiet_ = false;
};

}  // namespace

std::unique_ptr<Command> make_profile_command() { return std::make_unique<ProfileCommand>(); }

}  // namespace gable

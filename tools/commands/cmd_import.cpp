// SPDX-License-Identifier: Apache-2.0
// gable import: files of other tools as a report.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/report/report_json.h"
#include "collector/options/option_kinds.h"
#include "tools/commands/command.h"
#include "tools/files/report_files.h"
#include "tools/files/report_output.h"
#include "tools/gpus/gpu_file.h"
#include "tools/import/convert/own_tools.h"
#include "tools/import/kinds/file_kind.h"
#include "tools/import/kineto/kineto_trace.h"
#include "tools/import/ncu/ncu_csv.h"
#include "tools/import/nsys/nsys_sqlite.h"
#include "tools/import/proton/proton_profile.h"
#include "tools/import/ranks/join_ranks.h"
#include "tools/import/report/assemble.h"
#include "tools/import/report/named_gpu.h"
#include "tools/import/xplane/xplane_file.h"
#include "tools/merge/waiting.h"
#include "tools/streams/byte_source.h"

namespace gable {
namespace {

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

void read_ncu(const std::string& path, Imported& imported, Progress& progress,
              const std::string& name) {
  const auto source = open_bytes(path, progress, name);
  read_ncu_csv(*source, imported);
  imported.counters_from.push_back("ncu (" + file_name(name) + ")");
}

void read_kineto(const std::string& path, Imported& imported, Progress& progress,
                 const std::string& name) {
  const auto source = open_bytes(path, progress, name);
  read_kineto_trace(*source, imported);
}

void read_proton(const std::string& path, Imported& imported, Progress& progress,
                 const std::string& name) {
  const auto source = open_bytes(path, progress, name);
  read_proton_profile(*source, imported);
}

void read_xplane(const std::string& path, Imported& imported, Progress& progress,
                 const std::string& name) {
  std::error_code code;
  const auto type = std::filesystem::status(path, code).type();
  using Type = std::filesystem::file_type;
  if (type != Type::regular && type != Type::directory && type != Type::not_found)
    throw WrongUse(path + (type == Type::fifo ? " is a pipe" : " is not a regular file") +
                   ", and an XPlane file is read twice: save it as a file first.");
  Progress unseen(false);
  Progress* each = &unseen;
  read_xplane_file(
      [&] {
        auto source = open_bytes(path, *each, name);
        each = &progress;  // the second reading takes the time
        return source;
      },
      imported);
}

// A format of another tool: its option, and what reads a file of it. Files of counters are read
// when all times are known.
struct Format {
  const char* option;
  FileKind kind;
  bool counters;
  // `name` is what sentences call the file at `path`.
  void (*read)(const std::string& path, Imported& imported, Progress& progress,
               const std::string& name);
  // What the tool itself keeps, and the program that exports it.
  FileKind report = FileKind::unknown;
  Exporter exporter = Exporter::nsys;
};
constexpr Format kFormats[] = {
    {"--ncu", FileKind::ncu_csv, true, &read_ncu, FileKind::ncu_report, Exporter::ncu},
    {"--nsys", FileKind::sqlite, false, &read_nsys_sqlite, FileKind::nsys_report, Exporter::nsys},
    {"--kineto", FileKind::trace, false, &read_kineto},
    {"--xplane", FileKind::xplane, false, &read_xplane},
    {"--proton", FileKind::hatchet, false, &read_proton},
};

std::string no_files() {
  std::string options;
  for (const Format& format : kFormats) {
    const bool first = &format == std::begin(kFormats), last = &format + 1 == std::end(kFormats);
    options += (first ? "" : last ? " or " : ", ") + std::string(format.option);
  }
  return "gable import takes files of other tools: FILE, or with their kind " + options + " FILE.";
}

// Which of the formats a file given without an option has.
const Format& format_of(const std::string& path) {
  const FileKind kind = kind_of_file(path);
  for (const Format& format : kFormats) {
    const bool trace = format.kind == FileKind::trace && kind == FileKind::chrome_trace;
    if (kind != FileKind::unknown && (kind == format.kind || kind == format.report || trace))
      return format;
  }
  if (std::string sentence = sentence_of(kind, path); !sentence.empty()) throw WrongUse(sentence);
  std::error_code code;
  if (!std::filesystem::exists(path, code)) throw WrongUse(path + " does not exist.");
  throw WrongUse(path +
                 " does not begin as a file of any tool that Gable knows: name the tool that wrote "
                 "it, as in --ncu " +
                 path + ".");
}

class ImportCommand final : public Command {
 public:
  void declare(CLI::App& app) override {
    app.add_option("FILE", recognised_);
    for (std::size_t i = 0; i < files_.size(); ++i)
      app.add_option(kFormats[i].option, files_[i])->type_name("FILE");
    app.add_option_function<std::string>("--step-range",
                                         [this](const std::string& text) {
                                           check_not_empty("--step-range", "a regular expression",
                                                           text);
                                           check_regex("--step-range", text);
                                           step_range_ = text;
                                         })
        ->take_last()
        ->type_name("REGEX");
    app.add_flag("--ranks", ranks_);
    app.add_option("--gpu", gpu_)->type_name("NAME|FILE.json");
    app.add_option("-o,--output", output_)->type_name("OUT")->required();
  }

  int run() override {
    const std::vector<Input> all = inputs();
    if (all.empty()) throw WrongUse(no_files());
    find_board();
    std::vector<std::string> paths;
    paths.reserve(all.size());
    for (const Input& input : all) paths.push_back(input.path);
    check_each_once(paths, "file");
    check_output_place(output_, "--output");
    const char* terminal = std::getenv("TERM");
    Progress progress(isatty(STDERR_FILENO) == 1 &&
                      std::string_view(terminal == nullptr ? "dumb" : terminal) != "dumb");
    std::vector<ImportedRank> ranks;
    for (const std::vector<Input>& files : by_rank(all, progress))
      ranks.push_back(import_rank(files, static_cast<std::int64_t>(ranks.size()), progress));
    const Report report = join_ranks(std::move(ranks));
    progress.clear();
    write_output({{}, paths, {}}, to_json(report), output_);
    if (output_ != "-") {
      print_line(stdout, "Written: " + output_);
      if (const std::string text = waiting_sentence(report); !text.empty())
        print_line(stdout, text);
      print_line(stdout, "Next: gable report " + output_);
    }
    return kExitGood;
  }

 private:
  struct Input {
    const Format* format;
    std::string path;
  };

  // Files of one rank together. Most imports are of one.
  std::vector<std::vector<Input>> by_rank(const std::vector<Input>& all, Progress& progress) const {
    std::vector<std::vector<Input>> groups;
    if (ranks_) {
      for (const Input& input : all) {
        if (input.format->counters)
          throw WrongUse("--ranks takes files with times, and " + input.path +
                         " has counters: import it with its own rank's file, by itself.");
        groups.push_back({input});
      }
      return groups;
    }
    std::map<std::int64_t, std::vector<Input>> ranks;
    const Input* nameless = nullptr;
    const bool several = std::count_if(all.begin(), all.end(), is_trace) > 1;
    for (const Input& input : all) {
      const auto rank = several && is_trace(input) ? rank_of(input, progress) : std::nullopt;
      if (rank) ranks[*rank].push_back(input);
      if (!rank) nameless = &input;
    }
    if (ranks.size() < 2) return {all};
    if (nameless != nullptr)
      throw WrongUse(nameless->path +
                     " does not say which rank it is from, and other files are of " +
                     std::to_string(ranks.size()) + " ranks: import it by itself.");
    for (auto& [rank, files] : ranks) groups.push_back(std::move(files));
    return groups;
  }

  static bool is_trace(const Input& input) { return input.format->kind == FileKind::trace; }

  static std::optional<std::int64_t> rank_of(const Input& input, Progress& progress) {
    const FileKind kind = kind_of_file(input.path);
    if (kind != FileKind::trace && kind != FileKind::unknown) return std::nullopt;
    return rank_of_trace(*open_bytes(input.path, progress, input.path));
  }

  // `place`: what its rank is with --ranks, where no file says it.
  ImportedRank import_rank(const std::vector<Input>& files, std::int64_t place,
                           Progress& progress) const {
    Imported imported;
    imported.step_range = step_range_;
    for (const Input& input : files) read(input, imported, progress);
    if (ranks_ && !imported.rank) {
      imported.rank = place;
      imported.notes.emplace_back(
          "The file does not say its rank: ranks are numbered in the order in which files were "
          "given.");
    }
    leave_out_foreign_gpus(imported);
    name_board(imported);
    RankExchanges exchanges = exchanges_of(imported);
    return {files.front().path, assemble(imported, read_roofs_folder(roofs_folder())),
            std::move(exchanges)};
  }

  // A file that was given with another format's option would else get that format's sentence of
  // what is wrong in it.
  void read(const Input& input, Imported& imported, Progress& progress) const {
    const Format& format = *input.format;
    const FileKind kind = kind_of_file(input.path);
    // What a trace is of, its events may tell later than its beginning.
    const bool own =
        kind == format.kind || (format.kind == FileKind::trace && kind == FileKind::chrome_trace);
    if (kind == FileKind::unknown || own)
      return format.read(input.path, imported, progress, input.path);
    const std::string program =
        kind == format.report ? find_exporter(format.exporter) : std::string();
    if (program.empty()) throw WrongUse(sentence_of(kind, input.path));
    progress.clear();
    tell(file_name(input.path) + " is exported by " + program + ".");
    TemporaryFolder folder;
    const std::string made = export_report(format.exporter, program, input.path, folder);
    format.read(made, imported, progress, input.path);
  }

  // Of what takes its time; where the report goes to standard output, on a terminal alone.
  void tell(const std::string& line) const {
    if (output_ != "-") {
      print_line(stdout, line);
      std::fflush(stdout);
    } else if (isatty(STDERR_FILENO) == 1) {
      say(line);
    }
  }

  // What --gpu says, as far as it can be told before the files are read.
  void find_board() {
    if (!gpu_) return;
    if (names_gpu_file(*gpu_)) {
      DescribedGpu described = read_gpu_file(*gpu_);
      if (!described.gpu) throw WrongUse(described.error);
      described_ = std::move(described.gpu);
      return;
    }
    board_ = find_gpu(*gpu_, board_error_);
    if (board_ != nullptr) return;
    DeviceInfo named;
    named.name = *gpu_;
    const auto& all = gpu_catalogue();
    const bool some = std::any_of(all.begin(), all.end(), [&](const GpuSpec& gpu) {
      return !gpu_->empty() && could_be(gpu, named);
    });
    if (!some) throw WrongUse(board_error_);
  }

  void name_board(Imported& imported) const {
    if (described_) return name_gpu(*described_, true, imported);
    const GpuSpec* gpu = board_;
    // A name that several boards have: what the files say of the GPU decides.
    for (auto each = imported.devices.begin();
         gpu_ && gpu == nullptr && each != imported.devices.end(); ++each) {
      DeviceInfo device = each->second;
      device.name = *gpu_;
      gpu = gpu_of_device(device);
    }
    if (gpu_ && gpu == nullptr) throw WrongUse(board_error_);
    if (gpu != nullptr) name_gpu(*gpu, false, imported);
  }

  // In the order in which they are read.
  [[nodiscard]] std::vector<Input> inputs() const {
    std::vector<Input> all;
    for (const std::string& path : recognised_) all.push_back({&format_of(path), path});
    for (std::size_t i = 0; i < files_.size(); ++i)
      for (const std::string& path : files_[i]) all.push_back({&kFormats[i], path});
    std::stable_partition(all.begin(), all.end(),
                          [](const Input& input) { return !input.format->counters; });
    return all;
  }

  std::array<std::vector<std::string>, std::size(kFormats)> files_;  // by format
  std::vector<std::string> recognised_;                              // by what they begin with
  std::optional<std::string> gpu_;
  const GpuSpec* board_ = nullptr;  // of --gpu
  std::optional<GpuSpec> described_;
  std::string board_error_;
  std::string step_range_, output_;
  bool ranks_ = false;
};

}  // namespace

std::unique_ptr<Command> make_import_command() { return std::make_unique<ImportCommand>(); }

}  // namespace gable

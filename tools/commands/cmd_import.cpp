// SPDX-License-Identifier: Apache-2.0
// gable import: files of other tools as a report.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>

#include "analysis/report/report_json.h"
#include "tools/commands/command.h"
#include "tools/files/report_files.h"
#include "tools/files/report_output.h"
#include "tools/import/assemble.h"
#include "tools/import/kineto_trace.h"
#include "tools/import/named_gpu.h"
#include "tools/import/ncu_csv.h"
#include "tools/import/nsys_sqlite.h"
#include "tools/streams/byte_source.h"

namespace gable {
namespace {

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

// What a file begins with, where the JSON reader's own sentence would not help.
void check_trace_kind(const std::string& path) {
  std::error_code code;
  if (!std::filesystem::is_regular_file(path, code)) return;  // a pipe is read once
  std::ifstream file(path, std::ios::binary);
  std::array<char, 16> head{};
  file.read(head.data(), head.size());
  const std::string_view text(head.data(), static_cast<std::size_t>(file.gcount()));
  if (text.starts_with("SQLite format 3"))
    throw WrongUse(path + " is an SQLite file, as nsys exports it: give it with --nsys.");
  if (text.starts_with("\"ID\"") || text.starts_with("==PROF=="))
    throw WrongUse(path + " is output of ncu: give it with --ncu.");
}

class ImportCommand final : public Command {
 public:
  void declare(CLI::App& app) override {
    app.add_option("--ncu", ncu_, "output of ncu --csv")->type_name("FILE");
    app.add_option("--nsys", nsys_, "what nsys export --type sqlite wrote")->type_name("FILE");
    app.add_option("--kineto", kineto_, "traces of PyTorch's profiler")->type_name("FILE");
    app.add_option("--gpu", gpu_, "the GPU, where no file names it")->type_name("NAME");
    app.add_option("-o,--output", output_, "the report")->type_name("OUT")->required();
  }

  int run() override {
    if (ncu_.empty() && nsys_.empty() && kineto_.empty())
      throw WrongUse("gable import takes --ncu, --nsys or --kineto, and files of those tools.");
    const GpuSpec* gpu = named_board();
    check_each_once(inputs(), "file");
    check_output_place(output_, "--output");
    const char* terminal = std::getenv("TERM");
    Progress progress(isatty(STDERR_FILENO) == 1 &&
                      std::string_view(terminal == nullptr ? "dumb" : terminal) != "dumb");
    Imported imported;
    for (const std::string& path : nsys_) read_nsys_sqlite(path, imported, progress);
    for (const std::string& path : kineto_) {
      check_trace_kind(path);
      const auto source = open_bytes(path, progress);
      read_kineto_trace(*source, imported);
    }
    for (const std::string& path : ncu_) {
      if (path.ends_with(".ncu-rep")) throw WrongUse(ncu_rep_sentence(path));
      const auto source = open_bytes(path, progress);
      read_ncu_csv(*source, imported);
      imported.counters_from.push_back("ncu (" + file_name(path) + ")");
    }
    if (gpu != nullptr) name_gpu(*gpu, imported);
    const Report report = assemble(imported, read_roofs_folder(roofs_folder()));
    progress.clear();
    write_output({{}, inputs(), {}}, to_json(report), output_);
    if (output_ != "-") {
      print_line(stdout, "Written: " + output_);
      print_line(stdout, "Next: gable report " + output_);
    }
    return kExitGood;
  }

 private:
  [[nodiscard]] const GpuSpec* named_board() const {
    if (!gpu_) return nullptr;
    std::string error;
    const GpuSpec* gpu = find_gpu(*gpu_, error);
    if (gpu == nullptr) throw WrongUse(error);
    return gpu;
  }

  [[nodiscard]] std::vector<std::string> inputs() const {
    std::vector<std::string> all = nsys_;
    all.insert(all.end(), kineto_.begin(), kineto_.end());
    all.insert(all.end(), ncu_.begin(), ncu_.end());
    return all;
  }

  std::vector<std::string> ncu_, nsys_, kineto_;
  std::optional<std::string> gpu_;
  std::string output_;
};

}  // namespace

std::unique_ptr<Command> make_import_command() { return std::make_unique<ImportCommand>(); }

}  // namespace gable

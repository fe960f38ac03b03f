// SPDX-License-Identifier: Apache-2.0
// gable report: the table of finished reports, or of a snapshot of a running program, and files
// made of them.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "tools/command.h"
#include "tools/report_files.h"
#include "tools/report_output.h"

namespace gable {
namespace {

class ReportCommand final : public Command {
 public:
  void declare(CLI::App& app) override {
    app.add_option("FILE", files_, "reports")->required();
    app.add_option("--html", html_, "write the page")->type_name("OUT");
  }

  int run() override {
    const ReportFiles files = read_reports(files_);
    // A table of some of the files would look like one of all.
    if (!files.problems.empty()) throw WrongUse(files.problems.front());
    if (!html_.empty()) {
      write_page(files, html_);
      return kExitGood;
    }
    const std::string table = table_of(files, After::report);
    std::fwrite(table.data(), 1, table.size(), stdout);
    return kExitGood;
  }

 private:
  std::vector<std::string> files_;
  std::string html_;
};

}  // namespace

std::unique_ptr<Command> make_report_command() { return std::make_unique<ReportCommand>(); }

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
#include "tools/files/report_output.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>

#include "analysis/base/text_file.h"
#include "analysis/report/report_json.h"
#include "tests/unit/has_text.h"
#include "tests/unit/temporary_folder.h"
#include "tests/unit/tools/made_report.h"
#include "tools/base/wrong_use.h"
#include "tools/files/layer_option.h"
#include "tools/files/report_files.h"

namespace gable {
namespace {

class FilesOnDisk : public testing::Test {
 protected:
  [[nodiscard]] std::string in(const std::string& name) const { return folder_.at(name); }

  const tests::TemporaryFolder folder_;
};

std::string refusal(void (*check)(const std::string&), const std::string& path) {
  try {
    check(path);
  } catch (const WrongUse& wrong) {
    return wrong.what();
  }
  return {};
}

void check_json(const std::string& path) { check_output_place(path, "--json"); }

TEST(PlaceOfRemarks, IsStandardErrorWhereOutputIsOneOfTheFiles) {
  EXPECT_EQ(place_of_remarks({}), stdout);
  EXPECT_EQ(place_of_remarks({{"--json", "a"}, {"--html", "b"}}), stdout);
  EXPECT_EQ(place_of_remarks({{"--json", "a"}, {"--html", "-"}}), stderr);
}

TEST(PlaceOfRemarks, RefusesTwoThatNameTheSame) {
  EXPECT_EQ(place_of_remarks({{"--json", ""}, {"--html", ""}}), stdout);
  for (const std::string path : {"a", "-"}) {
    try {
      (void)place_of_remarks({{"--json", path}, {"--csv", "b"}, {"--html", path}});
      ADD_FAILURE() << path;
    } catch (const WrongUse& wrong) {
      const std::string said = wrong.what();
      EXPECT_LT(said.find("--json"), said.find("--html"));
      EXPECT_EQ(said.find("standard output") != std::string::npos, path == "-");
    }
  }
}

TEST_F(FilesOnDisk, AreWrittenButNotOverWhatWasRead) {
  ReportFiles files;
  files.paths = {folder_.file("read", "old")};
  write_output(files, "new", in("written"));
  EXPECT_EQ(folder_.text_of("written"), "new");
  EXPECT_THROW(write_output(files, "new", in("read")), WrongUse);
  EXPECT_EQ(folder_.text_of("read"), "old");
  EXPECT_THROW(write_output(files, "new", in("none/written")), WrongUse);
}

TEST(WriteOutput, GoesToStandardOutput) {
  testing::internal::CaptureStdout();
  write_output({}, "text", "-");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "text");
}

TEST_F(FilesOnDisk, HaveAPlaceThatIsCheckedBefore) {
  for (const std::string& good : {std::string(), std::string("-"), std::string("/dev/null"),
                                  std::string("name"), in("name"), in("none-%p/name"), in("a b~")})
    EXPECT_EQ(refusal(check_json, good), "") << good;
  for (const std::string& bad : {in("a\x1f"), in("a\x7f"), in("."), in("none/name")})
    EXPECT_NE(refusal(check_json, bad).find("--json"), std::string::npos) << bad;
  EXPECT_NE(refusal(check_json, in("none/name")).find(in("none")), std::string::npos);
}

TEST_F(FilesOnDisk, AreNamedOnce) {
  folder_.file("a", "a");
  folder_.file("b", "b");
  std::filesystem::create_symlink(in("a"), in("link"));
  EXPECT_NO_THROW(check_each_once({}, "report"));
  EXPECT_NO_THROW(check_each_once({in("a"), in("b"), in("none"), in("none")}, "report"));
  EXPECT_THROW(check_each_once({in("a"), in("b"), in("link")}, "report"), WrongUse);
  EXPECT_THROW(check_each_once({in("b"), in("a"), in("a")}, "report"), WrongUse);
}

TEST_F(FilesOnDisk, AreReadInTheirOrder) {
  tests::MadeReport first, second;
  first.report.devices[0].name = "first";
  second.report.devices[0].name = "second";
  ASSERT_EQ(write_text_file(to_json(first.done()), in("1")), "");
  ASSERT_EQ(write_text_file(to_json(second.done()), in("2")), "");
  folder_.file("broken", "{");
  const ReportFiles files = read_reports({in("2"), in("broken"), in("none"), in("1")});
  EXPECT_EQ(files.paths, (std::vector<std::string>{in("2"), in("1")}));
  ASSERT_EQ(files.reports.size(), 2u);
  EXPECT_EQ(files.reports[0].devices[0].name, "second");
  EXPECT_EQ(files.reports[1].devices[0].name, "first");
  ASSERT_EQ(files.problems.size(), 2u);
  EXPECT_EQ(files.problems[0].rfind(in("broken") + ": ", 0), 0u);
  EXPECT_NE(files.problems[1].find(in("none")), std::string::npos);
  EXPECT_EQ(file_names(files), (std::vector<std::string>{"2", "1"}));
}

TEST(FitTerminal, TakesColumnsFromSixtyTo140) {
  const auto fitted = [](const char* columns) {
    setenv("COLUMNS", columns, 1);
    std::size_t width = 100;
    bool colours = true;
    testing::internal::CaptureStdout();  // a file, no terminal
    fit_terminal(width, colours);
    (void)testing::internal::GetCapturedStdout();
    unsetenv("COLUMNS");
    EXPECT_FALSE(colours);
    return width;
  };
  EXPECT_EQ(fitted("59"), 100u);
  EXPECT_EQ(fitted("60"), 60u);
  EXPECT_EQ(fitted("61"), 61u);
  EXPECT_EQ(fitted("140"), 140u);
  EXPECT_EQ(fitted("141"), 140u);
  EXPECT_EQ(fitted("x"), 100u);
}

Report counted_report() {
  tests::MadeReport made;
  made.add_kernel(made.add_layer({"net"}), "k", 10, 100, 10);
  made.report.run.steps.hw = made.report.run.steps.flops = made.report.run.steps.time = 2;
  return made.done();
}

std::string after(After where, const std::function<void(Report&)>& change) {
  ReportFiles files;
  change(files.reports.emplace_back(counted_report()));
  files.paths = {"/tmp/a report.json"};
  return table_of(files, where);
}

TEST(TableOf, EndsWithTheNextCommand) {
  const auto as_it_is = [](Report&) {};
  EXPECT_TRUE(has(after(After::profile, as_it_is), "gable report '/tmp/a report.json'"));
  EXPECT_FALSE(has(after(After::report, as_it_is), "gable report"));  // it was just typed
  const auto times_alone = [](Report& report) { report.run.steps.hw = report.run.steps.flops = 0; };
  EXPECT_TRUE(has(after(After::report, times_alone), "gable doctor    (why"));
  const auto launches = [](Report& report) { report.run.unit = Unit::run; };
  EXPECT_TRUE(has(after(After::report, launches), "gable profile --step-range REGEX"));
  const auto imported = [](Report& report) { report.run.source = Source::imported; };
  EXPECT_FALSE(has(after(After::profile, imported), "gable report"));
}

TEST(LayerPatterns, AreAllParsed) {
  EXPECT_EQ(layer_patterns({}).size(), 0u);
  EXPECT_EQ(layer_patterns({"a", "b"}).size(), 2u);
  EXPECT_THROW((void)layer_patterns({"a", "regex:("}), WrongUse);
}

}  // namespace
}  // namespace gable

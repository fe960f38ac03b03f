// SPDX-License-Identifier: Apache-2.0
// report.json as text and back.
#include <unistd.h>

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "analysis/base/text_file.h"
#include "analysis/report/report_json.h"
#include "analysis/report/report_json_read.h"
#include "tests/unit/analysis/report/full_report.h"
#include "tools/files/report_file.h"

namespace gable::tests {
namespace {

// The same test may run in another process at the same time.
std::string own_file(const std::string& name) {
  return ::testing::TempDir() + "gable-" + std::to_string(getpid()) + "-" + name;
}

std::string error_of(const std::string& text) {
  const ParsedReport parsed = from_json(text);
  EXPECT_FALSE(parsed.report.has_value()) << text.substr(0, 80);
  return parsed.error;
}

TEST(ReportJson, EveryFieldSurvives) {
  const std::string text = to_json(kept(full_report()));
  const ParsedReport read = from_json(text);
  ASSERT_TRUE(read.report) << read.error;
  EXPECT_EQ(to_json(*read.report), text);
  // Nothing in the full report is at its default, so a field that the reader forgot is seen here.
  const auto written = nlohmann::json::parse(text);
  const auto flat = written.flatten();
  for (const auto& [pointer, value] : flat.items()) {
    const bool of_root = pointer == "/layers/1/parent";
    EXPECT_EQ(value.is_null(), of_root) << pointer;
  }
}

// A field that neither the writer nor the reader knows is lost without a trace: each number of the
// full report, from 1001 on, is another one, and all of them are written.
TEST(ReportJson, EveryFieldIsWritten) {
  const auto flat = nlohmann::json::parse(to_json(full_report())).flatten();
  std::set<std::int64_t> numbers;
  for (const auto& [pointer, value] : flat.items()) {
    const double number = value.is_number() ? value.get<double>() : 0;
    if (number > 1000 && number < 2000) numbers.insert(static_cast<std::int64_t>(number));
  }
  EXPECT_GT(numbers.size(), 200u);
  std::string missing;
  for (std::int64_t number = 1001; number < *numbers.rbegin(); ++number)
    if (!numbers.contains(number)) missing += std::to_string(number) + " ";
  EXPECT_EQ(missing, "");
}

TEST(ReportJson, AClockThatWasMeasuredIsThatOfItsDeviceAlone) {
  Report report;
  report.version = "0";
  for (const int id : {0, 1}) report.devices.emplace_back().id = id;
  report.sm_clock_measured_hz[0] = 1.5e9;
  const ParsedReport read = from_json(to_json(kept(report)));
  ASSERT_TRUE(read.report) << read.error;
  EXPECT_EQ(read.report->sm_clock_measured_hz, report.sm_clock_measured_hz);
}

TEST(ReportJson, UnknownIsNullAndSurvives) {
  Report report;
  report.version = "0";
  report.layers.emplace_back().direction = Direction::none;
  report.layers[0].launches = 0;
  report.layers[0].roof.bound = Bound::unknown;
  report.kernels.emplace_back().direction = Direction::none;
  report.kernels[0].name = "k";
  report.kernels[0].roof.bound = Bound::unknown;
  report.kernels[0].counters["dram__sectors_read.sum"] = std::nullopt;
  report.run.total.basis = Basis::extrapolated;
  const std::string text = to_json(kept(report));
  const auto json = nlohmann::json::parse(text);
  for (const char* pointer :
       {"/run/total/flops", "/run/rank", "/step/wall_ns/mean", "/layers/0/time_ns/total",
        "/layers/0/parent", "/layers/0/time_source", "/kernels/0/time_source",
        "/kernels/0/flops/total", "/kernels/0/bytes/dram", "/kernels/0/roof/fraction",
        "/kernels/0/roof/ceiling", "/kernels/0/roof/level", "/kernels/0/roof/source",
        "/kernels/0/counters/dram__sectors_read.sum"}) {
    EXPECT_TRUE(json.at(nlohmann::json::json_pointer(pointer)).is_null()) << pointer;
  }
  const ParsedReport read = from_json(text);
  ASSERT_TRUE(read.report) << read.error;
  EXPECT_FALSE(read.report->kernels[0].time_mean_ns);
  EXPECT_EQ(to_json(*read.report), text);
}

TEST(ReportJson, NumbersAreWrittenToTheLastDigit) {
  Report report;
  report.run.total.flops = 31325.666666666668;
  report.run.total.bytes_dram = 9007199254740991.0;
  report.run.total.gpu_time_ns = 1e29;
  report.run.total.flops_per_s = std::numeric_limits<double>::quiet_NaN();
  const std::string text = to_json(report);
  EXPECT_NE(text.find("\"flops\": 31325.666666666668"), std::string::npos);
  EXPECT_NE(text.find("\"bytes_dram\": 9007199254740991,"), std::string::npos);
  EXPECT_NE(text.find("\"flops_per_s\": null"), std::string::npos);
  EXPECT_EQ(from_json(text).report->run.total.gpu_time_ns, 1e29);
}

TEST(ReportJson, BadBytesBecomeReplacementCharacters) {
  Report report;
  report.run.command = {"a\xFFz", "ok \xE2\x82\xAC"};
  const std::string text = to_json(report);
  const ParsedReport read = from_json(text);
  ASSERT_TRUE(read.report) << read.error;
  EXPECT_EQ(read.report->run.command,
            (std::vector<std::string>{"a\xEF\xBF\xBDz", "ok \xE2\x82\xAC"}));
}

TEST(ReportJson, FieldsOfALaterWriterAreLeftAside) {
  auto json = nlohmann::json::parse(to_json(full_report()));
  json["run"]["later"] = {{"a", 1}};
  json["kernels"][0]["later"] = "x";
  json["later"] = nlohmann::json::array();
  const ParsedReport read = from_json(json.dump());
  ASSERT_TRUE(read.report) << read.error;
  EXPECT_EQ(to_json(*read.report), to_json(full_report()));
}

TEST(ReportJson, ANewerSchemaIsRefusedWithBothNumbers) {
  Report report = full_report();
  report.schema = 7;
  EXPECT_EQ(error_of(to_json(report)),
            "This report has schema 7, but this program reads schemas up to 2: use the gable that "
            "wrote it, or a newer one.");
}

// A file of schema 1 had the host's time where the GPU's is now.
TEST(ReportJson, ASchemaBeforeTheGpusTimeOfAStepHasTheHostsAlone) {
  Report report = full_report();
  report.schema = 1;
  const ParsedReport read = from_json(to_json(report));
  ASSERT_TRUE(read.report) << read.error;
  const Step& step = read.report->step;
  EXPECT_EQ(step.host_mean_ns, report.step.wall_mean_ns);
  EXPECT_EQ(step.host_stddev_ns, report.step.wall_stddev_ns);
  EXPECT_FALSE(step.wall_mean_ns || step.wall_stddev_ns || step.idle_ns || step.mfu || step.hfu);
  EXPECT_EQ(step.busy_ns, report.step.busy_ns);
  EXPECT_EQ(read.report->run.processes[0].step_host_ns, report.run.processes[0].step_wall_ns);
  EXPECT_FALSE(read.report->run.processes[0].step_wall_ns.has_value());
  bool tokens = false;
  for (std::size_t i = 0; i < report.layers.size(); ++i) {
    if (!report.layers[i].tokens) continue;
    tokens = true;
    EXPECT_EQ(read.report->layers[i].tokens->host_ns, report.layers[i].tokens->wall_ns);
    EXPECT_FALSE(read.report->layers[i].tokens->wall_ns.has_value());
  }
  EXPECT_TRUE(tokens);
  EXPECT_EQ(read.report->schema, kReportSchema);  // as it is written again
}

TEST(ReportJson, WhatIsNoReportIsSaidInOneSentence) {
  EXPECT_EQ(error_of(""), "This is not JSON, or it was cut off: something is wrong at byte 1.");
  const std::string text = to_json(full_report());
  EXPECT_EQ(error_of(text.substr(0, text.size() / 2)).rfind("This is not JSON, or it was cut", 0),
            0u);
  EXPECT_EQ(error_of("[]"), "This is not a Gable report: it has no field \"gable\".");
  EXPECT_EQ(error_of("{}"), "This is not a Gable report: it has no field \"gable\".");
  EXPECT_EQ(error_of(R"({"gable": {}})"),
            "This is not a Gable report: gable.schema is missing or below 1.");
  EXPECT_EQ(error_of(R"({"gable": {"schema": "1"}})"),
            "This report is damaged: gable.schema is not a whole number.");
}

TEST(ReportJson, ADamagedFieldIsNamed) {
  const auto damaged = [](const char* pointer, const nlohmann::json& value) {
    auto json = nlohmann::json::parse(to_json(full_report()));
    json[nlohmann::json::json_pointer(pointer)] = value;
    return error_of(json.dump());
  };
  EXPECT_EQ(damaged("/kernels/0/flops/fp32", "many"),
            "This report is damaged: kernels[0].flops.fp32 is not a number.");
  EXPECT_EQ(damaged("/layers/0/path", "a/b"),
            "This report is damaged: layers[0].path is not a list.");
  EXPECT_EQ(damaged("/layers/0/path/0", 1),
            "This report is damaged: layers[0].path[0] is not a text.");
  EXPECT_EQ(damaged("/kernels/0/grid", {1, 2}),
            "This report is damaged: kernels[0].grid is not a list of three numbers.");
  EXPECT_EQ(damaged("/kernels/0/grid/1", -1),
            "This report is damaged: kernels[0].grid[1] is out of range.");
  for (const char* field : {"/kernels/0/launches", "/kernels/0/time_ns/mean", "/layers/0/launches",
                            "/copies/0/count", "/step/busy_ns", "/run/total/flops", "/run/pid"}) {
    const auto name = damaged(field, -1);
    EXPECT_TRUE(name.ends_with(" is negative.") || name.ends_with(" is out of range.")) << name;
  }
  // Without these the rest of their object would be told as if they were 0.
  EXPECT_EQ(damaged("/step/graph/wall_ns", nullptr),
            "This report is damaged: step.graph.wall_ns is missing.");
  EXPECT_EQ(damaged("/step/exposed/saving_ns", nlohmann::json::object()),
            "This report is damaged: step.exposed.saving_ns.compute is missing.");
  EXPECT_EQ(damaged("/kernels/0/step_saving_ns/high", nullptr),
            "This report is damaged: kernels[0].step_saving_ns.high is missing.");
  EXPECT_EQ(damaged("/kernels/0/launches", -0.5),
            "This report is damaged: kernels[0].launches is negative.");
  const double more_than_64_bits = 18446744073709551617.0;
  EXPECT_EQ(damaged("/kernels/0/launches", more_than_64_bits),
            "This report is damaged: kernels[0].launches is out of range.");
  EXPECT_EQ(damaged("/copies/0/count", more_than_64_bits),
            "This report is damaged: copies[0].count is out of range.");
  EXPECT_EQ(damaged("/kernels/0/time_ns/mean", 1e31),
            "This report is damaged: kernels[0].time_ns.mean is out of range.");
  EXPECT_EQ(damaged("/layers/0/direction", "\"/><script>"),
            "This report is damaged: layers[0].direction is not 'forward', 'backward', 'recompute' "
            "or 'none'.");
  EXPECT_EQ(damaged("/run/complete", 1),
            "This report is damaged: run.complete is neither true nor false.");
  EXPECT_EQ(damaged("/run", 3), "This report is damaged: run is not an object.");
}

TEST(ReportJson, NumbersThatAreNoneAreRefused) {
  const std::string text = to_json(full_report());
  const auto with = [&](const std::string& number) {
    auto other = text;
    const auto at = other.find("\"launches\": ") + 12;
    other.replace(at, other.find_first_of(",\n", at) - at, number);
    return from_json(other).error;
  };
  for (const char* number : {"Infinity", "-Infinity", "NaN", "nan"})
    EXPECT_EQ(with(number).rfind("This is not JSON, or it was cut off: ", 0), 0u) << number;
  EXPECT_TRUE(with("1e999").ends_with(" is out of range.")) << with("1e999");
  EXPECT_TRUE(with("3").empty());
}

// Sums climb from a layer to its parents.
TEST(ReportJson, LayersAreATree) {
  const auto of = [](const std::vector<std::pair<int, int>>& layers) {
    auto json = nlohmann::json::parse(to_json(full_report()));
    const auto some = json["layers"][1];
    json["layers"].clear();
    for (const auto& [id, parent] : layers) {
      json["layers"].push_back(some);
      json["layers"].back()["parent"] = nullptr;
      json["layers"].back()["id"] = id;
      if (parent >= 0) json["layers"].back()["parent"] = parent;
    }
    return from_json(json.dump()).error;
  };
  EXPECT_EQ(of({{1, 0}, {0, -1}}), "");
  EXPECT_EQ(of({{0, -1}, {5, 0}, {5, 0}}),
            "This report is damaged: layers[2].id is also that of layers[1].");
  EXPECT_EQ(of({{0, -1}, {5, 7}}),
            "This report is damaged: layers[1] has a parent that is not a layer.");
  EXPECT_EQ(of({{5, 5}}), "This report is damaged: layers[0] is among its own parents.");
  EXPECT_EQ(of({{0, -1}, {1, 2}, {2, 3}, {3, 1}}),
            "This report is damaged: layers[1] is among its own parents.");
  EXPECT_EQ(of({{4, 1}, {1, 2}, {2, 1}}),
            "This report is damaged: layers[0] has more than 129 parents.");
  std::vector<std::pair<int, int>> chain{{0, -1}};
  for (int i = 1; i < 129; ++i) chain.emplace_back(i, i - 1);
  EXPECT_EQ(of(chain), "");
  for (int i = 129; i < 1000; ++i) chain.emplace_back(i, i - 1);
  EXPECT_NE(of(chain), "");
}

TEST(ReportFile, WritesBesideAndRenames) {
  const std::string path = own_file("report_file.json");
  ASSERT_EQ(write_text_file(to_json(full_report()), path), "");
  ASSERT_EQ(write_text_file(to_json(full_report()), path), "");  // over the old one
  const ParsedReport read = read_report_file(path);
  ASSERT_TRUE(read.report) << read.error;
  EXPECT_EQ(to_json(*read.report), to_json(full_report()));
  EXPECT_EQ(unlink(path.c_str()), 0);
}

TEST(ReportFile, ProblemsNameTheFile) {
  const std::string missing = ::testing::TempDir() + "gable_no_folder/x.json";
  EXPECT_EQ(write_text_file(to_json(full_report()), missing),
            missing + " cannot be written: No such file or directory.");
  EXPECT_EQ(read_report_file(missing).error, missing + ": No such file or directory.");
  EXPECT_EQ(read_report_file("/tmp").error, "/tmp is a folder, not a report.");
  const std::string broken = own_file("broken.json");
  std::ofstream(broken) << "{";
  EXPECT_EQ(read_report_file(broken).error,
            broken + ": This is not JSON, or it was cut off: something is wrong at byte 2.");
  EXPECT_EQ(unlink(broken.c_str()), 0);
}

}  // namespace
}  // namespace gable::tests

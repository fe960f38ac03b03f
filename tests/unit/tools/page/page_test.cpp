// SPDX-License-Identifier: Apache-2.0
// The page as a file, and what its data has beside rows.
#include "tools/page/page.h"

#include <gtest/gtest.h>

#include <set>

#include "analysis/report/report_json.h"
#include "tests/unit/tools/made_report.h"
#include "tests/unit/tools/page/page_rows.h"
#include "tools/advice/advice.h"
#include "tools/page/page_parts.h"
#include "tools/page/still_view.h"
#include "tools/show/sources.h"

namespace gable::tests {
namespace {

std::string with_part(std::string text, const std::string& mark, const std::string& part) {
  const std::size_t at = text.find(mark);
  return at == std::string::npos ? "no " + mark : text.replace(at, mark.size(), part);
}

TEST(Page, ItsPartsStandInTheTemplate) {
  const Report report = MadeReport().done();
  std::string expected(page_template());
  expected = with_part(expected, "@TITLE@", "<title>Gable [playback] </title>");
  expected = with_part(expected, "@STYLE@", std::string(page_style()));
  expected = with_part(expected, "@STILL@", still_view({report}, {"file"}));
  expected = with_part(expected, "@D3@", std::string(page_d3()));
  expected = with_part(expected, "@DATA@", page_data({report}, {"file"}));
  expected = with_part(expected, "@SCRIPT@", std::string(page_script()));
  EXPECT_TRUE(render_page({report}, {"file"}) == expected);  // too long to be shown
}

std::string title_of(const std::vector<Report>& reports) {
  const std::string page = render_page(reports, std::vector<std::string>(reports.size()));
  const std::string begin = "<title>";
  const std::size_t at = page.find(begin) + begin.size();
  return page.substr(at, page.find("</title>\n") - at);
}

TEST(Page, ItsTitleIsTheCommand) {
  Report report;
  report.run.command = {"python", "a<b>", "&c"};
  EXPECT_EQ(title_of({report}), "Gable python a&lt;b> &amp;c");
  EXPECT_EQ(title_of({}), "Gable");
  report.run.source = Source::imported;
  report.run.command = {std::string(200 - std::string("Gable [import] ").size(), 'x')};
  EXPECT_EQ(title_of({report}), "Gable [import] " + report.run.command[0]);
  report.run.command[0] += "y";
  EXPECT_EQ(title_of({report}).size(), 200u);
  EXPECT_TRUE(title_of({report}).ends_with("x\xE2\x80\xA6"));
}

TEST(Page, OfTwoRunsItsTitleIsBothFiles) {
  const Report report = MadeReport().done();
  const std::string compared = R"({"layers": [{"name": "a", "match": "same"}, {"name": "c"}],
    "kernels": [{"name": "k", "layer": "l"}]})";
  const std::string page = render_page({report, report}, {"x.json", "<y>"}, compared);
  EXPECT_NE(page.find("<title>Gable [playback] x.json -> &lt;y></title>"), std::string::npos);
  // Kernels are left out where layers are known.
  EXPECT_NE(page.find(R"("comparison":{"kernels":[],"layers":[{"match":"same","name":"a"})"),
            std::string::npos);
  EXPECT_EQ(page_data({report}, {"f"}).find("comparison"), std::string::npos);
}

TEST(StillView, HasTheChartAndTenRowsByTheirSaving) {
  MadeReport made;
  for (int i = 1; i <= 12; ++i) {
    const auto layer = made.add_layer({"layer" + std::to_string(i)}, Direction::backward);
    made.add_kernel(layer, "k", 100.0 * i, 2000, 1000);
  }
  const std::string view = still_view({made.done()}, {"file"});
  EXPECT_NE(view.find("<svg "), std::string::npos);
  const std::size_t first = view.find("<td>layer12</td><td>backward</td><td>1.20 us</td>");
  EXPECT_LT(first, view.find("<td>layer3</td>"));
  EXPECT_EQ(view.find("<td>layer2</td>"), std::string::npos);
  EXPECT_NE(view.find("<td>counted</td>", first), std::string::npos);
  EXPECT_EQ(view.find("<h2>"), std::string::npos);
}

TEST(StillView, OfSeveralReportsEachHasItsNameAndNoNameIsMarkup) {
  MadeReport made;
  const auto layer = made.add_layer({"<img src=x>&"});
  made.add_kernel(layer, "k", 100, 2000, 1000).flops = {};
  const Report report = made.done();
  const std::string view = still_view({report, report}, {"a</noscript>", "b"});
  EXPECT_NE(view.find("<h2>a&lt;/noscript></h2>"), std::string::npos);
  EXPECT_NE(view.find("<h2>b</h2>"), std::string::npos);
  EXPECT_NE(view.find("<td>&lt;img src=x>&amp;</td>"), std::string::npos);
  EXPECT_EQ(view.find("<img"), std::string::npos);
  EXPECT_EQ(view.find("</noscript"), std::string::npos);
  EXPECT_NE(view.find("<td>unknown</td></tr>"), std::string::npos);
}

TEST(PageData, TheCommandOrTheRecording) {
  const auto command = [](const std::vector<std::string>& words) {
    RunInfo run;
    run.command = words;
    return shown_command(run);
  };
  EXPECT_EQ(command({}), "");
  EXPECT_EQ(command({"python", "train.py"}), "python train.py");
  EXPECT_EQ(command({"bin/gable-player", "data/resnet.jsonl"}), "the recording resnet.jsonl");
  EXPECT_EQ(command({"gable-player", "resnet.jsonl"}), "the recording resnet.jsonl");
  EXPECT_EQ(command({"gable-player"}), "gable-player");
  EXPECT_EQ(command({"gable-player", "a", "b"}), "gable-player a b");
}

TEST(PageData, OfEachReport) {
  Report first = MadeReport().done(), second;
  first.run.command = {"python", "train.py"};
  second.run.command = {"python", "eval.py"};
  second.run.pid = 17;
  const Json data = Json::parse(page_data({first, second}, {"one", "two"}));
  const Json& reports = data["reports"];
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_EQ(reports[0]["file"], "one");
  EXPECT_EQ(reports[1]["file"], "two");
  EXPECT_EQ(reports[0]["command"], "python train.py");
  EXPECT_EQ(reports[1]["command"], "python eval.py");
  EXPECT_EQ(reports[1]["report"]["run"]["pid"], 17);
  EXPECT_EQ(page_rows(data, reports[0]["layers"]).size(), 1u);
  EXPECT_EQ(page_rows(data, reports[1]["layers"]).size(), 0u);
}

TEST(PageData, TheReportHasNoRows) {
  MadeReport made;
  made.add_kernel(0, "k", 10, 1, 1);
  const Report report = made.done();
  const Json head = page_json(report)["reports"][0]["report"];
  Json expected = Json::parse(to_json(report));
  EXPECT_EQ(expected["layers"].size(), 1u);
  EXPECT_EQ(expected["kernels"].size(), 1u);
  expected["layers"] = expected["kernels"] = Json::array();
  EXPECT_EQ(head, expected);
}

TEST(PageData, Advice) {
  MadeReport made;
  made.report.run.complete = true;
  KernelRow& kernel = made.add_kernel(0, "gemm", 1000, 100000, 90000, 3);
  kernel.flops = {std::nullopt, 100000, std::nullopt, {}, 100000};
  const Report report = made.done();
  const std::vector<Advice> advice = advise(report);
  const Json shown = page_json(report)["reports"][0]["advice"];
  ASSERT_FALSE(advice.empty());
  ASSERT_EQ(shown.size(), advice.size());
  for (std::size_t i = 0; i < advice.size(); ++i) {
    EXPECT_EQ(shown[i]["id"], advice[i].id);
    EXPECT_EQ(shown[i]["action"], advice[i].action);
    EXPECT_EQ(shown[i]["where"], advice[i].where);
    EXPECT_EQ(shown[i]["trigger"], advice[i].trigger);
    if (advice[i].saving_ns)
      EXPECT_NEAR(shown[i]["saving"].get<double>(), *advice[i].saving_ns,
                  *advice[i].saving_ns * 1e-4);
    else
      EXPECT_TRUE(shown[i]["saving"].is_null());
  }
}

TEST(PageData, TextsStandOnceAndAreCut) {
  Report report;
  report.layers.resize(3);
  report.layers[0].path = report.layers[1].path = {std::string(2048, 'a')};
  report.layers[2].path = {std::string(2049, 'b')};
  const Json page = page_json(report);
  const auto strings = page["strings"].get<std::vector<std::string>>();
  EXPECT_EQ(std::set(strings.begin(), strings.end()).size(), strings.size());
  const auto rows = page_rows(page, page["reports"][0]["layers"]);
  EXPECT_EQ(rows[0]["$name"], std::string(2048, 'a'));
  EXPECT_EQ(rows[1]["$name"], std::string(2048, 'a'));
  EXPECT_EQ(rows[2]["$name"], std::string(2045, 'b') + "\xE2\x80\xA6");
}

// It stands inside a <script> element.
TEST(PageData, NothingInItEndsItsElement) {
  Report report;
  report.layers.resize(1);
  report.layers[0].path = {"</script>\xC3\xA4"};
  const std::string text = page_data({report}, {"<file>"});
  EXPECT_EQ(text.find('<'), std::string::npos);
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_EQ(text.find('\xC3'), std::string::npos);
  const Json page = Json::parse(text);
  EXPECT_EQ(page["reports"][0]["file"], "<file>");
  EXPECT_EQ(page_rows(page, page["reports"][0]["layers"])[0]["$name"], "</script>\xC3\xA4");
}

}  // namespace
}  // namespace gable::tests

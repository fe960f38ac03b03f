// SPDX-License-Identifier: Apache-2.0
// Columns of a table as text, and which of them go where a terminal is narrow.
#include "tools/show/columns.h"

#include <gtest/gtest.h>

#include "analysis/base/display.h"

namespace gable {
namespace {

std::vector<Column> table() {
  return {{"name", true, {"a", "bbbbbb"}, {}},
          {"x", false, {"1", "22"}, {}},
          {"yy", true, {"p", "q"}, {}}};
}

TEST(Columns, HeadsAndCellsAreAligned) {
  EXPECT_EQ(render_columns(table(), 2, 100, false),
            "name     x  yy\n"
            "a        1  p\n"
            "bbbbbb  22  q\n");
  EXPECT_EQ(render_columns(table(), 1, 100, false), "name     x  yy\na        1  p\n");
  EXPECT_EQ(table()[0].width(), 6u);
  EXPECT_EQ(table()[2].width(), 2u) << "of the head";
  EXPECT_EQ((Column{"h", true, {"\u5C64\u5C64"}, {}}).width(), 4u) << "wide letters";
}

TEST(Columns, CellsStayInTheirLine) {
  EXPECT_EQ(render_columns({{"n", true, {"a\nb"}, {}}}, 1, 100, false).find("a\nb"),
            std::string::npos);
}

TEST(Columns, ColoursAreOfHeadsAndOfCellsThatHaveOne) {
  auto all = table();
  all[1].colours = {"34", nullptr};
  EXPECT_EQ(render_columns(all, 2, 100, true),
            "\x1b[1mname  \x1b[0m  \x1b[1m x\x1b[0m  \x1b[1myy\x1b[0m\n"
            "a       \x1b[34m 1\x1b[0m  p\n"
            "bbbbbb  22  q\n");
  EXPECT_EQ(coloured("", "1"), "");
  EXPECT_EQ(coloured("x", nullptr), "x");
}

TEST(Columns, LinesThatAreCutHaveNoColours) {
  std::vector<Column> all = {{"n", true, {"a"}, {}}, {"v", true, {std::string(30, 'x')}, {}}};
  const std::string text = render_columns(all, 1, 20, true);
  EXPECT_TRUE(text.starts_with("\x1b[1mn")) << text;
  EXPECT_EQ(text.find("\x1b", text.find('\n')), std::string::npos) << text;
}

// The name has 40 columns, the other 10, between them 2.
TEST(Columns, NamesGetTheRoomThatIsLeftAndAtLeast16) {
  const std::string name = "abcdefghijklmnopqrstuvwxyz0123456789ABCD";
  const auto first = [&](std::size_t columns) {
    std::vector<Column> all = {{"n", true, {name}, {}}, {"v", false, {"1234567890"}, {}}};
    const std::string text = render_columns(all, 1, columns, false);
    const std::string line = text.substr(text.find('\n') + 1);
    return line.substr(0, line.find(' '));
  };
  EXPECT_EQ(first(52), name);
  EXPECT_EQ(first(51).size(), 39u + 2) << "one of three bytes stands for two";
  EXPECT_EQ(first(29).size(), 17u + 2);
  EXPECT_EQ(first(28).size(), 16u + 2);
}

std::string dropped(std::size_t columns, std::size_t name = 6) {
  std::vector<Column> all = {{"name", true, {std::string(name, 'n')}, {}},
                             {"aa 1", true, {"x"}, {}},
                             {"bb", true, {"y"}, {}},
                             {"aa 2", true, {"z"}, {}},
                             {"cc", true, {"z"}, {}}};
  const std::string gone = drop_columns(all, {"aa", "cc"}, columns);
  return gone + ";" + std::to_string(all.size());
}

TEST(Columns, GoByTheirFirstWordUntilTheTableFits) {
  // 6 + (2 + 4) + (2 + 2) + (2 + 4) + (2 + 2)
  EXPECT_EQ(dropped(26), ";5");
  EXPECT_EQ(dropped(25), "aa 1, aa 2;3");
  EXPECT_EQ(dropped(14), "aa 1, aa 2;3");
  EXPECT_EQ(dropped(13), "aa 1, aa 2, cc;2");
  EXPECT_EQ(dropped(38, 18), ";5");
  EXPECT_EQ(dropped(44, 30), ";5") << "names are shortened";
  EXPECT_EQ(dropped(43, 30), "aa 1, aa 2;3");
}

TEST(Columns, ThoseThatSayNothingGo) {
  std::vector<Column> all = {{"name", true, {"-", "-"}, {}},
                             {"known", false, {"-", "1"}, {}},
                             {"rate", false, {"-", "-"}, {}},
                             {"direction", true, {"-", "-"}, {}},
                             {"bound", true, {"unknown", "unknown"}, {}}};
  EXPECT_EQ(width_of(all), 4u + 7 + 6 + 11 + 9);
  EXPECT_EQ(drop_unknown(all), "rate, bound");
  EXPECT_EQ(all.size(), 3u);
  EXPECT_EQ(drop_unknown(all), "");
  all[1].cells.clear();
  EXPECT_EQ(drop_unknown(all), "") << "a table without rows";
}

TEST(Columns, TwoOfNamesShareTheRoom) {
  std::vector<Column> all = {{"kernel", true, {std::string(40, 'k')}, {}},
                             {"layer", true, {std::string(40, 'l')}, {}},
                             {"time", false, {"1 %"}, {}}};
  all[1].names = true;
  const auto widths = [&](std::size_t columns) {
    const std::string text = render_columns(all, 1, columns, false);
    const std::string line = text.substr(text.find('\n') + 1);
    const std::size_t layer = line.find('l');
    return std::pair(display_width(line.substr(0, line.find(' '))),
                     display_width(line.substr(layer, line.find(' ', layer) - layer)));
  };
  EXPECT_EQ(widths(88), (std::pair<std::size_t, std::size_t>(40, 40)));
  EXPECT_EQ(widths(80), (std::pair<std::size_t, std::size_t>(40, 32)));
  EXPECT_EQ(widths(58), (std::pair<std::size_t, std::size_t>(30, 20)));
  EXPECT_EQ(widths(40).first, 16u) << "and the line is cut";
}

}  // namespace
}  // namespace gable

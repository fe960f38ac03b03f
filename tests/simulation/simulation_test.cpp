// SPDX-License-Identifier: Apache-2.0
// Made-up programs: no report may join what does not belong together without saying so, the queue
// must always end, and without any single check this very suite must fail. GABLE_PROGRAMS sets how
// many; with the 10,000 of docs/performance.md its tables are compared too.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "tests/simulation/mutations.h"
#include "tests/simulation/play.h"

namespace gable::simulation {
namespace {

constexpr std::uint64_t kDocumented = 10000;
// Sanitizers look at memory, for which a few of each kind are enough.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
constexpr std::uint64_t kProgramsByDefault = kSanitized ? 200 : 4000;
constexpr std::uint64_t kStablePrograms = kSanitized ? 4 : 20;

std::uint64_t programs() {
  const char* asked = std::getenv("GABLE_PROGRAMS");
  return asked == nullptr ? kProgramsByDefault : std::stoull(asked);
}

struct Totals {
  std::uint64_t programs = 0, launches = 0, rows = 0, flagged = 0, complete = 0, windows = 0,
                thrown = 0;
  std::uint64_t wrong = 0;
};

const char* name_of(Work work) {
  constexpr std::array<const char*, 9> kNames = {
      "each kernel always the same",       "different launches in one step",
      "another size in every step",        "growing from step to step",
      "another size from one step on",     "two sizes in turn",
      "another size in each kind of step", "the same FLOPs, other bytes",
      "the same bytes, other FLOPs"};
  return kNames.at(static_cast<std::size_t>(work));
}

std::string table(const std::array<Totals, 9>& by_work) {
  std::ostringstream out;
  out << "| work of a kernel | programs | launches | windows kept | thrown away | kernel rows | "
         "flagged | "
         "wrong joins |\n|---|---|---|---|---|---|---|---|\n";
  for (std::size_t work = 0; work < by_work.size(); ++work) {
    const auto& t = by_work[work];
    out << "| " << name_of(static_cast<Work>(work)) << " | " << t.programs << " | " << t.launches
        << " | " << t.windows << " | " << t.thrown << " | " << t.rows << " | " << t.flagged << " | "
        << t.wrong << " |\n";
  }
  return out.str();
}

// Of programs that do not say where their steps end.
struct Found {
  std::uint64_t programs = 0, found = 0, launches = 0;
};

const char* kind_of(const Program& program) {
  switch (program.shapes) {
    case Shapes::alternating:
      return "two or three models in turn";
    case Shapes::blocks:
      return "one model, then another";
    case Shapes::random:
      return "two or three models in any order";
    case Shapes::dynamic:
      return "up to twelve shapes in any order";
    case Shapes::endless:
      return "another grid in every step";
    case Shapes::one:
      break;
  }
  return program.shuffled          ? "two threads that swap"
         : program.extra_every > 0 ? "further launches every few steps"
         : program.inner > 0       ? "a loop within the step"
         : program.tuning > 0      ? "kernels tried out at first"
                                   : "every step the same";
}

std::string table(const std::map<std::string, Found>& by_kind) {
  std::ostringstream out;
  out << "| steps that are not named | programs | of them, with steps found | launches to the end "
         "of the queue, mean |\n|---|---|---|---|\n";
  for (const auto& [kind, each] : by_kind) {
    out << "| " << kind << " | " << each.programs << " | " << each.found << " | "
        << each.launches / each.programs << " |\n";
  }
  return out.str();
}

// The table as it stands in the documentation.
void expect_documented(const std::string& found) {
  if (programs() != kDocumented) return;
  std::ifstream file(GABLE_SOURCE_DIR "/docs/performance.md");
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_NE(text.str().find(found), std::string::npos)
      << "docs/performance.md has another table than the simulation makes";
}

TEST(Simulation, NoWrongJoin) {
  std::array<Totals, 9> by_work;
  std::map<std::string, Found> by_kind;
  std::uint64_t failed = 0;
  for (std::uint64_t seed = 1; seed <= programs(); ++seed) {
    const auto program = random_program(seed);
    const auto played = play(program);
    auto& totals = by_work.at(static_cast<std::size_t>(program.work));
    ++totals.programs;
    totals.rows += played.rows;
    totals.flagged += played.flagged;
    totals.launches += played.launches;
    totals.thrown += played.thrown_away;
    totals.wrong += played.wrong.size();
    for (const auto& [phase, windows] : played.windows) totals.windows += windows;
    if (!program.has_steps && played.over) {
      auto& found = by_kind[kind_of(program)];
      ++found.programs;
      found.found += played.period > 0 ? 1 : 0;
      found.launches += played.launches;
    }
    EXPECT_TRUE(played.over || played.ended) << "no end: " << program.describe();
    if (program.stable() && played.over) {
      EXPECT_EQ(played.complete, played.rows) << program.describe();
    }
    if (played.wrong.empty()) continue;
    ADD_FAILURE() << program.describe() << ": " << played.wrong.size()
                  << " wrong, the first: " << played.wrong.front();
    if (++failed > 20) break;
  }
  const auto found = table(by_work);
  std::cout << found;
  expect_documented(found);
  std::cout << table(by_kind);
  expect_documented(table(by_kind));
}

TEST(Simulation, AStableStepOfAThousandLaunchesIsCoveredInThreeWindowsAPhase) {
  for (std::uint64_t seed = 1; seed <= kStablePrograms; ++seed) {
    const auto keys = static_cast<std::uint32_t>(seed % 2 == 0 ? 1000 : 37 * seed);
    const auto played = play(stable_program(seed, 1000, keys));
    EXPECT_TRUE(played.over);
    EXPECT_EQ(played.rows, keys);
    EXPECT_EQ(played.complete, keys);
    EXPECT_EQ(played.flagged, 0);
    EXPECT_EQ(played.thrown_away, 0);
    for (const auto& [phase, windows] : played.windows) EXPECT_LE(windows, 3) << phase;
    EXPECT_EQ(played.windows.size(), 6) << "four hardware passes, flops and time";
  }
}

TEST(Simulation, AStablePeriodOfAThousandLaunchesIsCoveredInThreeWindowsAPhase) {
  for (std::uint64_t seed = 1; seed <= kStablePrograms; ++seed) {
    const auto keys = static_cast<std::uint32_t>(seed % 2 == 0 ? 1000 : 37 * seed);
    const auto played = play(periodic_program(seed, 1000, keys));
    EXPECT_TRUE(played.over);
    EXPECT_EQ(played.period, 1000);
    EXPECT_EQ(played.wrong, std::vector<std::string>());
    EXPECT_EQ(played.rows, keys);
    EXPECT_EQ(played.complete, keys);
    EXPECT_EQ(played.flagged, 0);
    for (const auto& [phase, windows] : played.windows) EXPECT_LE(windows, 3) << phase;
    EXPECT_EQ(played.windows.size(), 6) << "four hardware passes, flops and time";
  }
}

TEST(Simulation, WithoutAnySingleCheckItFails) {
  if (kSanitized) GTEST_SKIP() << "some checks need hundreds of programs before they are missed";
  std::ostringstream out;
  out << "| check | the first program that notices when it is off |\n|---|---|\n";
  for (const auto& mutation : mutations()) {
    PlayOptions options;
    options.checks.*mutation.check = false;
    std::uint64_t seed = 1;
    while (seed <= programs() && play(random_program(seed), options).wrong.empty()) ++seed;
    EXPECT_LE(seed, programs()) << "nothing notices when it is off: " << mutation.name;
    out << "| " << mutation.name << " | " << seed << " |\n";
  }
  std::cout << out.str();
  expect_documented(out.str());
}

}  // namespace
}  // namespace gable::simulation

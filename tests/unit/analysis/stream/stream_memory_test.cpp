// SPDX-License-Identifier: Apache-2.0
// Memory grows with distinct keys, never with launches: 20,000,000 launches over 10,000 keys, 1 %
// of them never seen again. GABLE_STREAM_LAUNCHES sets another number; builds that are not
// optimised stream fewer. A program of its own, because it looks at its own resident size.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <string>

#include "analysis/builder/report_builder.h"
#include "analysis/profile/profile.h"
#include "tests/unit/analysis/stream/stream_program.h"

namespace gable::tests {
namespace {

// kB, from /proc/self/status.
std::uint64_t status_kb(const std::string& field) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(field + ":", 0) == 0)
      return std::strtoull(line.c_str() + field.size() + 1, nullptr, 10);
  }
  return 0;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

#if defined(__OPTIMIZE__)
constexpr bool kOptimised = true;
#else
constexpr bool kOptimised = false;
#endif

std::uint64_t launches_to_stream() {
  const char* text = std::getenv("GABLE_STREAM_LAUNCHES");
  if (text != nullptr) return std::strtoull(text, nullptr, 10);
  return kOptimised && !kSanitized ? 20'000'000 : 4'000'000;
}

TEST(StreamMemory, LaunchesOfTenThousandKeysStayUnder64Megabytes) {
  constexpr std::uint64_t kWindow = 50'000;  // launches of a time window
  constexpr std::uint64_t kLag = 20'000;     // launches until a record comes
  const std::uint64_t count = launches_to_stream();
  LayerTree layers;
  FunctionTable functions;
  Profile profile(layers, functions);
  StreamProgram program(layers, functions);

  std::uint64_t fresh = 0, checked_launches = 0, checked_ns = 0;
  const LaunchKey checked = program.usual(0);
  const auto is_fresh = [](std::uint64_t ordinal) { return ordinal % 100 == 99; };
  const auto record = [&](std::uint64_t ordinal) {
    KernelRecord arrived;
    arrived.start_ns = 1'000'000 + ordinal * 10'000;
    arrived.end_ns = arrived.start_ns + StreamProgram::duration_ns(ordinal);
    arrived.correlation = static_cast<std::uint32_t>(ordinal + 1);
    profile.add(arrived);
  };
  const auto end_window = [&](WindowId id) {
    WindowEnd end;
    end.window = id;
    end.phase = {PhaseKind::time, 0};
    profile.end_window(end);
  };
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto window = static_cast<WindowId>(1 + i / kWindow);
    if (i % kWindow == 0) {
      if (i > 0) end_window(window - 1);
      profile.begin_window(window, {PhaseKind::time, 0});
    }
    LaunchEvent launch;
    launch.key = is_fresh(i) ? program.fresh(i) : program.usual(i);
    launch.window = window;
    launch.correlation = static_cast<std::uint32_t>(i + 1);
    profile.add(launch);
    if (is_fresh(i)) {
      ++fresh;
    } else if (launch.key == checked) {
      ++checked_launches;
      checked_ns += StreamProgram::duration_ns(i);
    }
    if (i >= kLag) record(i - kLag);
  }
  for (std::uint64_t i = count > kLag ? count - kLag : 0; i < count; ++i) record(i);
  end_window(static_cast<WindowId>(1 + (count - 1) / kWindow));
  profile.finish_records();
  const std::uint64_t streamed_kb = status_kb("VmHWM");
  RecordProperty("peak_kb", static_cast<int>(streamed_kb));
  std::printf("%llu launches, peak resident %llu kB\n", static_cast<unsigned long long>(count),
              static_cast<unsigned long long>(streamed_kb));
  ASSERT_GT(streamed_kb, 0u);
  if (!kSanitized) {
    EXPECT_LT(streamed_kb, 64u * 1024);
  }

  // Nothing was lost on the way, and common keys were never folded.
  const Report report = build_report(profile, RunInfo{});
  EXPECT_EQ(report.run.lost.unattributed_launches, 0u);
  EXPECT_LE(report.kernels.size(), 20001u);
  double launches = 0;
  std::uint64_t found = 0;
  for (const KernelRow& row : report.kernels) {
    launches += row.launches;
    if (row.grid != checked.grid || row.name != functions.name(checked.function)) continue;
    ++found;
    EXPECT_EQ(row.launches, static_cast<double>(checked_launches));
    EXPECT_EQ(row.samples_time, checked_launches);
    EXPECT_EQ(row.time_mean_ns,
              static_cast<double>(checked_ns) / static_cast<double>(checked_launches));
  }
  EXPECT_EQ(found, 1u);
  EXPECT_EQ(launches, static_cast<double>(count));
  if (count >= 2'000'000) {
    EXPECT_GT(report.run.lost.folded_keys, 0u);
    EXPECT_LE(report.run.lost.folded_keys, fresh);
  }
}

}  // namespace
}  // namespace gable::tests

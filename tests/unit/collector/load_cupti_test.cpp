// SPDX-License-Identifier: Apache-2.0
// Loading in a fresh process each: the answer depends on what is mapped, and a loaded library
// stays.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

#include "collector/cupti_api.h"
#include "real_cupti.h"

namespace gable {
namespace {

namespace fs = std::filesystem;

// What `action` returns in a child process. ctest runs each test in a process of its own; in a run
// of the whole program another test may have loaded CUPTI before.
std::string in_child(const std::function<std::string()>& action) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    const auto text = action();
    const auto written = write(ends[1], text.data(), text.size());
    _exit(written == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(n));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return text;
}

bool cupti_mapped() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find("libcupti.so") != std::string::npos) return true;
  return false;
}

#define SKIP_WITH_A_MAPPED_CUPTI() \
  if (cupti_mapped()) GTEST_SKIP() << "another test of this process has loaded CUPTI already"

TEST(LoadCuptiFresh, AWrongPathIsOneSentenceWithTheRemedy) {
  SKIP_WITH_A_MAPPED_CUPTI();
  const auto text = in_child([] { return load_cupti("/no/such/libcupti.so.13").why_not; });
  EXPECT_NE(text.find("/no/such/libcupti.so.13"), std::string::npos) << text;
  EXPECT_NE(text.find("--cupti"), std::string::npos) << text;
}

TEST(LoadCuptiFresh, ALibraryThatIsNoCuptiIsRefused) {
  SKIP_WITH_A_MAPPED_CUPTI();
  const auto text = in_child([] {
    const auto api = load_cupti("libm.so.6");
    return (api.can_trace ? "traces " : "refused ") + api.why_not;
  });
  EXPECT_EQ(text.rfind("refused ", 0), 0u) << text;
  EXPECT_NE(text.find("lacks calls"), std::string::npos) << text;
}

#ifdef GABLE_CUPTI_LIBRARY
// A copy of libcupti alone in a folder: times still work, and the sentence names what is missing.
TEST(LoadCuptiFresh, WithoutLibnvperfOnlyTimes) {
  SKIP_WITH_A_MAPPED_CUPTI();
  const auto folder = fs::temp_directory_path() / ("gable-cupti-" + std::to_string(getpid()));
  fs::create_directories(folder);
  const auto copy = folder / "libcupti.so.13";
  fs::copy_file(GABLE_CUPTI_LIBRARY, copy, fs::copy_options::overwrite_existing);
  const auto text = in_child([&] {
    unsetenv("LD_LIBRARY_PATH");
    const auto api = load_cupti(copy.string());
    return std::string(api.can_trace ? "traces " : "") + (api.can_profile ? "profiles " : "") +
           api.why_not;
  });
  fs::remove_all(folder);
  EXPECT_EQ(text.rfind("traces Only times", 0), 0u) << text;
  EXPECT_NE(text.find("libnvperf_host.so and libnvperf_target.so"), std::string::npos) << text;
}
#endif

}  // namespace
}  // namespace gable

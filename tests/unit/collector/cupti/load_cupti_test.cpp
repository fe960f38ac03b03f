// SPDX-License-Identifier: Apache-2.0
// Loading in a fresh process each: the answer depends on what is mapped, and a loaded library
// stays.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <tuple>

#include "collector/cupti/cupti_api.h"
#include "collector/cupti/driverless.h"
#include "collector/metrics/plan.h"
#include "tests/unit/collector/real_cupti.h"

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
  EXPECT_EQ(text.rfind("traces Counters are not taken", 0), 0u) << text;
  EXPECT_NE(text.find("libnvperf_host.so and libnvperf_target.so"), std::string::npos) << text;
}
#endif

#ifdef GABLE_CUPTI_LIBRARY
// As in a pip package, where the loader would find none, or that of an installed toolkit.
TEST(LoadCuptiFresh, LibnvperfIsTakenFromBesideIt) {
  SKIP_WITH_A_MAPPED_CUPTI();
  const auto folder = fs::temp_directory_path() / ("gable-nvperf-" + std::to_string(getpid()));
  fs::create_directories(folder);
  const auto toolkit = fs::path(GABLE_CUPTI_LIBRARY).parent_path();
  fs::copy_file(GABLE_CUPTI_LIBRARY, folder / "libcupti.so.13");
  for (const char* name : {"libnvperf_host.so", "libnvperf_target.so"})
    fs::copy_file(toolkit / name, folder / name);
  const auto text = in_child([&] {
    unsetenv("LD_LIBRARY_PATH");
    const auto api = load_cupti((folder / "libcupti.so.13").string());
    const bool lists = !supported_chips(api).empty();
    std::ifstream maps("/proc/self/maps");
    const std::string mapped((std::istreambuf_iterator<char>(maps)), {});
    const auto from = [&](const fs::path& place) {
      return mapped.find((place / "libnvperf_host.so").string()) != std::string::npos;
    };
    return std::string(lists ? "lists" : "no list") + (from(folder) ? ", its own" : "") +
           (from(fs::canonical(toolkit)) ? ", the toolkit's" : "");
  });
  fs::remove_all(folder);
  EXPECT_EQ(text, "lists, its own");
}
#endif

#if defined(GABLE_CUPTI_LIBRARY) && defined(GABLE_OLD_CUPTI)
// The one beside the program's libcudart is too old for counters: another is looked for, and the
// old one does not stay.
TEST(LoadCuptiFresh, OneThatTakesCountersIsBetterThanTheFirstFound) {
  SKIP_WITH_A_MAPPED_CUPTI();
  const auto root = fs::temp_directory_path() / ("gable-old-cupti-" + std::to_string(getpid()));
  const auto playback = fs::path(GABLE_OLD_CUPTI).parent_path() / "../playback";
  fs::create_directories(root);
  fs::create_symlink(GABLE_OLD_CUPTI, root / "libcupti.so.12");
  fs::copy_file(playback / "libnvperf_host.so", root / "libcudart.so.12");
  const auto text = in_child([&] {
    if (dlopen((playback / "libcuda.so.1").c_str(), RTLD_NOW) == nullptr ||
        dlopen((root / "libcudart.so.12").c_str(), RTLD_NOW) == nullptr)
      return std::string(dlerror());
    const auto api = load_cupti();
    std::ifstream maps("/proc/self/maps");
    const std::string mapped((std::istreambuf_iterator<char>(maps)), {});
    return std::string(api.can_profile ? "profiles, " : "") +
           (mapped.find("playback-old") != std::string::npos ? "the old one stays" : "alone");
  });
  const auto newer =
      in_child([] { return std::string(load_cupti().can_profile ? "found" : "none"); });
  fs::remove_all(root);
  if (newer == "none") GTEST_SKIP() << "there is no newer one in the usual places";
  EXPECT_EQ(text, "profiles, alone");
}

TEST(LoadCuptiFresh, OneThatIsTooOldIsBetterThanNone) {
  SKIP_WITH_A_MAPPED_CUPTI();
  const auto text = in_child([] {
    const auto api = load_cupti(GABLE_OLD_CUPTI);
    return std::string(api.can_trace ? "traces " : "") + (api.can_profile ? "profiles " : "") +
           api.why_not;
  });
  EXPECT_EQ(text.rfind("traces Counters are not taken: the CUPTI that --cupti names, ", 0), 0u)
      << text;
}
#endif

bool driver_mapped() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find("libcuda.so") != std::string::npos) return true;
  return false;
}

// As the CUPTI of CUDA 13.2 does where there is no driver.
TEST(WithoutDriver, AQuestionThatEndsTheProcessIsAskedInAnother) {
  if (driver_mapped()) GTEST_SKIP() << "asked only where no driver is loaded";
  EXPECT_FALSE(survives_without_driver([](std::uint32_t*) -> CUptiResult {
    raise(SIGSEGV);
    return CUPTI_SUCCESS;
  }));
  EXPECT_TRUE(survives_without_driver([](std::uint32_t*) { return CUPTI_ERROR_UNKNOWN; }));
}

TEST(WithoutDriver, WhatBecameOfAQuestionIsKnown) {
  const auto answered = ask_elsewhere(
      [](const Tell& tell) {
        tell("one\n");
        return 3;
      },
      10);
  EXPECT_EQ((std::tuple(answered.code, answered.signal, answered.told)), std::tuple(3, 0, "one\n"));
  const auto ended = ask_elsewhere(
      [](const Tell& tell) {
        tell("two\n");
        raise(SIGSEGV);
        return 0;
      },
      10);
  EXPECT_EQ((std::tuple(ended.signal, ended.told)), std::tuple(SIGSEGV, "two\n"));
  const auto stuck = ask_elsewhere(
      [](const Tell&) {
        for (;;) pause();
        return 0;
      },
      1);
  EXPECT_EQ(stuck.signal, SIGALRM);
  // Each thing told begins the patience anew.
  const auto slow = ask_elsewhere(
      [](const Tell& tell) {
        alarm(0);
        tell("three\n");
        return alarm(0) > 0 ? 3 : 0;
      },
      1000);
  EXPECT_EQ((std::tuple(slow.code, slow.told)), std::tuple(3, "three\n"));
}

}  // namespace
}  // namespace gable

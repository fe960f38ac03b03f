// SPDX-License-Identifier: Apache-2.0
// An installation in which a part is missing says so: at the start of a profile and in doctor.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/unit/tools/run_gable.h"

#if GABLE_HAVE_INJECT

namespace gable::tests {
namespace {

namespace fs = std::filesystem;

const char* const kInstalled = GABLE_SOURCE "/tests/data/recordings/small/layers.jsonl";

// A copy of the build's product, of which parts can be taken away.
class Installation {
 public:
  Installation() : root_(temporary_folder()) {
    const fs::path build = fs::path(GABLE_PROGRAM).parent_path().parent_path();
    fs::create_directories(root_ / "bin");
    fs::copy_file(GABLE_PROGRAM, root_ / "bin/gable");
    fs::create_directories(root_ / "lib");
    fs::create_symlink(GABLE_LIBRARY, root_ / "lib/libgable_inject.so");
    for (const char* part : {"python/startup", "python/gable", "python/gable_profiler", "playback"})
      fs::create_directories(root_ / "lib" / part);
    for (const char* part :
         {"python/startup", "python/gable", "python/gable_profiler", "playback"}) {
      for (const auto& file : fs::directory_iterator(build / "lib" / part)) {
        if (file.is_regular_file())
          fs::create_symlink(file.path(), root_ / "lib" / part / file.path().filename());
      }
    }
  }
  void take_away(const std::string& part) { fs::remove_all(root_ / part); }
  // What a shell prints for `gable WORDS` there, on one line.
  [[nodiscard]] Ran run(const std::string& words) const {
    return run_shell("cd '" + root_.string() +
                     "' && unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH GABLE_OPTIONS && "
                     "bin/gable " +
                     words);
  }
  [[nodiscard]] Ran doctor() const { return run(std::string("doctor --playback ") + kInstalled); }

 private:
  fs::path root_;
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Wrapped by doctor, on one line by the others.
std::string unwrapped(const std::string& text) {
  std::string joined;
  for (const char letter : text) {
    const bool blank = letter == ' ' || letter == '\n';
    if (!blank || (!joined.empty() && joined.back() != ' ')) joined += blank ? ' ' : letter;
  }
  return joined;
}

TEST(Installation, SaysNothingWhenItIsWhole) {
  const Installation whole;
  const Ran doctor = whole.doctor();
  EXPECT_EQ(doctor.code, 0) << doctor.out;
  EXPECT_TRUE(contains(doctor.out, "Everything works here.")) << doctor.out;
  const Ran env = whole.run("env");
  EXPECT_EQ(env.err, "");
  EXPECT_TRUE(contains(env.out, "/lib/python/startup")) << env.out;
}

TEST(Installation, SaysThatItsPythonSideIsMissing) {
  for (const char* part :
       {"lib/python", "lib/python/startup", "lib/python/gable_profiler/_modules.py"}) {
    Installation without;
    without.take_away(part);
    const Ran doctor = without.doctor();
    EXPECT_EQ(doctor.code, 1) << part;
    EXPECT_TRUE(contains(unwrapped(doctor.out), "Python missing Gable's Python side"))
        << doctor.out;
    EXPECT_TRUE(contains(unwrapped(doctor.out), "--target gable_python")) << doctor.out;
    EXPECT_FALSE(contains(doctor.out, "Everything works")) << part;
    for (const char* words : {"profile -- true", "env"}) {
      const Ran ran = without.run(words);
      EXPECT_EQ(ran.code, 0) << ran.err;
      EXPECT_EQ(ran.err.rfind("gable: Gable's Python side", 0), 0U) << ran.err;
      EXPECT_FALSE(contains(ran.out, "PYTHONPATH")) << part;
    }
    EXPECT_FALSE(contains(without.run("profile --layers off -- true").err, "Python side"));
  }
}

TEST(Installation, SaysWhichFileOfThePlaybackGpuIsMissing) {
  Installation without;
  without.take_away("lib/playback/libnvidia-ml.so.1");
  const Ran doctor = without.run("doctor");
  EXPECT_EQ(doctor.code, 1);
  const Ran profile = without.run(std::string("profile --playback ") + kInstalled);
  EXPECT_EQ(profile.code, 2);
  for (const std::string& text : {unwrapped(doctor.out), profile.err}) {
    EXPECT_TRUE(contains(text, "(../lib/playback/libnvidia-ml.so.1 is missing)")) << text;
    EXPECT_TRUE(contains(text, "--target gable_playback")) << text;
  }
}

}  // namespace
}  // namespace gable::tests

#endif

// SPDX-License-Identifier: Apache-2.0
// Who may hold the counters, among processes that come and go while they are looked at.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/unit/tools/run_gable.h"

#if GABLE_HAVE_INJECT
#include "tools/doctor/doctor_holders.h"

namespace gable::tests {
namespace {

TEST(DoctorHolders, AProcessThatEndsMeanwhileIsNone) {
  const std::filesystem::path proc = temporary_folder() + "/proc";
  std::filesystem::create_directories(proc / "21");
  std::filesystem::create_directories(proc / "22/cmdline");  // it opens, and reading it fails
  std::ofstream(proc / "21/cmdline") << "/usr/bin/nv-hostengine";
  const auto holders = running_holders("", proc.string());
  ASSERT_EQ(holders.size(), 1U);
  EXPECT_EQ(holders.front().pid, 21);
}

}  // namespace
}  // namespace gable::tests

#endif  // GABLE_HAVE_INJECT

// SPDX-License-Identifier: Apache-2.0
// What would go wrong for a user: a way to launch a kernel or to copy memory that nobody sees, so
// that its time is in no layer. The header of the CUPTI that we compile against lists every call.
#include "collector/cupti/launch_calls.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

namespace gable {
namespace {

std::map<std::string, CUpti_CallbackId> driver_calls() {
  std::ifstream file(GABLE_DRIVER_CALLS);
  std::stringstream text;
  text << file.rdbuf();
  const std::string all = text.str();
  const std::regex line("CUPTI_DRIVER_TRACE_CBID_(\\w+)\\s*=\\s*(\\d+)");
  std::map<std::string, CUpti_CallbackId> calls;
  for (std::sregex_iterator one(all.begin(), all.end(), line), end; one != end; ++one)
    calls[(*one)[1]] = static_cast<CUpti_CallbackId>(std::stoul((*one)[2]));
  return calls;
}

// Launch entries that are no launch of a kernel, or that nobody can count.
const std::map<std::string, std::string> kNoLaunches = {
    {"cuLaunchCooperativeKernelMultiDevice",
     "removed from CUDA 13; CUPTI's range profiler never supported it"},
    {"cuLaunchHostFunc", "runs a function of the host"},
    {"cuLaunchHostFunc_ptsz", "runs a function of the host"},
    {"cuLaunchHostFunc_v2", "runs a function of the host"},
    {"cuLaunchHostFunc_v2_ptsz", "runs a function of the host"},
};

TEST(DriverCalls, TheHeaderIsRead) {
  const auto calls = driver_calls();
  EXPECT_GT(calls.size(), 600u);
  EXPECT_EQ(calls.at("cuLaunchKernel"), CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
}

TEST(DriverCalls, EveryLaunchIsFollowedOrNone) {
  int launches = 0;
  for (const auto& [name, id] : driver_calls()) {
    if (name.find("Launch") == std::string::npos) continue;
    ++launches;
    const auto kind = kind_of(id);
    const bool followed = kind == CallKind::launch || kind == CallKind::graph_launch;
    EXPECT_NE(followed, kNoLaunches.count(name) == 1) << name;
  }
  EXPECT_GE(launches, 14);
}

// Each launch of a kernel says which, whatever the layout of its arguments.
TEST(DriverCalls, EveryLaunchIsUnderstood) {
  alignas(16) char none[256] = {};
  for (const auto& [name, id] : driver_calls()) {
    if (kind_of(id) != CallKind::launch) continue;
    LaunchArguments arguments;
    EXPECT_TRUE(decode_launch(id, none, arguments)) << name;
  }
}

TEST(DriverCalls, EveryCopyIsFollowed) {
  int copies = 0;
  const auto calls = driver_calls();
  for (const auto& [name, id] : calls) {
    if (name.rfind("cuMemcpy", 0) != 0 && name.rfind("cuMemset", 0) != 0) continue;
    // The first versions of calls that have a second are those of 32-bit pointers: no driver of
    // today exports them. Of cuMemcpy it is the other way round.
    const bool old =
        name == "cuMemcpy_v2" || (calls.count(name + "_v2") == 1 && name != "cuMemcpy" &&
                                  name.find("Batch") == std::string::npos);
    EXPECT_EQ(kind_of(id) == CallKind::copy, !old) << name;
    copies += old ? 0 : 1;
  }
  EXPECT_GE(copies, 60);
}

TEST(DriverCalls, NoCallIsNamedTwice) {
  std::set<CUpti_CallbackId> seen;
  for (const auto id : watched_calls()) EXPECT_TRUE(seen.insert(id).second) << id;
}

}  // namespace
}  // namespace gable

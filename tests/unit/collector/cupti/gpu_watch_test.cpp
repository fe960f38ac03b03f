// SPDX-License-Identifier: Apache-2.0
// Where there is no NVML nobody waits for it, and everything that it would tell is unknown.
#include "collector/cupti/gpu_watch.h"

#include <gtest/gtest.h>

namespace gable {
namespace {

TEST(GpuWatch, WithoutNvmlEverythingIsUnknown) {
  GpuWatch watch;
  EXPECT_EQ(watch.free_bytes(0), std::nullopt);  // the thread has not begun
  watch.watch([] { return true; });
  watch.use(0);
  watch.use(-1);
  watch.use(64);
  watch.start();  // nobody has found NVML's calls
  EXPECT_EQ(watch.free_bytes(0), std::nullopt);
  EXPECT_TRUE(watch.links().empty());
  EXPECT_TRUE(watch.states().empty());
  watch.rest();
}

}  // namespace
}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// What NVML's numbers mean.
#include "collector/cupti/nvml.h"

#include <gtest/gtest.h>

namespace gable {
namespace {

TEST(Nvml, VersionsOfNvlinkAreNoPlainNumbers) {
  // NVML_NVLINK_VERSION_*: 1.0, 2.0, 2.2, 3.0, 3.1, 4.0, 5.0 and 6.0 are 1 to 8.
  const std::vector<int> versions{0, 1, 2, 2, 3, 3, 4, 5, 6};
  for (unsigned value = 0; value < versions.size(); ++value)
    EXPECT_EQ(nvlink_version(value, 10, 0), versions[value]) << value;
  EXPECT_EQ(nvlink_version(9, 10, 0), 0);
}

TEST(Nvml, HopperHasNvlink4WhateverItAnswers) {
  EXPECT_EQ(nvlink_version(7, 9, 0), 4);
  EXPECT_EQ(nvlink_version(6, 9, 0), 4);
  EXPECT_EQ(nvlink_version(4, 8, 0), 3);
}

TEST(Nvml, WhatWasNotOpenedTellsNothing) {
  const Nvml nvml;
  EXPECT_EQ(nvml.devices(), 0);
  EXPECT_EQ(nvml.free_bytes(0), std::nullopt);
  EXPECT_EQ(nvml.links(0), DeviceLinks());
}

}  // namespace
}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// Against published figures of boards and buses.
#include "analysis/roofline/link_roofs.h"

#include <gtest/gtest.h>

#include <string>

namespace gable::tests {
namespace {

DeviceInfo with_links(int generation, int width, std::optional<std::int64_t> nvlinks = {},
                      int version = 0) {
  DeviceInfo device;
  device.id = 3;
  device.links.pcie = {generation, width};
  device.links.nvlinks = nvlinks;
  device.links.nvlink_version = version;
  return device;
}

double host(int generation, int width) {
  const auto roof = host_link(with_links(generation, width));
  return roof ? roof->value * 1e-9 : 0;
}
double peers(int version, std::int64_t links) {
  const auto roof = peer_link(with_links(5, 16, links, version));
  return roof ? roof->value * 1e-9 : 0;
}

// PCI-SIG's figures of x16, each way.
TEST(LinkRoofs, PcieOfEachGeneration) {
  EXPECT_NEAR(host(1, 16), 4, 0.001);
  EXPECT_NEAR(host(2, 16), 8, 0.001);
  EXPECT_NEAR(host(3, 16), 15.754, 0.001);
  EXPECT_NEAR(host(4, 16), 31.508, 0.001);
  EXPECT_NEAR(host(5, 16), 63.015, 0.001);
  EXPECT_NEAR(host(6, 16), 121, 0.001);
  EXPECT_NEAR(host(4, 8), 31.508 / 2, 0.001);
}

// Half of what NVIDIA states for both directions together.
TEST(LinkRoofs, NvlinkOfBoards) {
  EXPECT_DOUBLE_EQ(peers(1, 4), 160 / 2.0);    // P100
  EXPECT_DOUBLE_EQ(peers(2, 6), 300 / 2.0);    // V100
  EXPECT_DOUBLE_EQ(peers(3, 12), 600 / 2.0);   // A100
  EXPECT_DOUBLE_EQ(peers(3, 8), 400 / 2.0);    // A800
  EXPECT_DOUBLE_EQ(peers(4, 18), 900 / 2.0);   // H100
  EXPECT_DOUBLE_EQ(peers(5, 18), 1800 / 2.0);  // B200
}

TEST(LinkRoofs, WhatIsNotToldIsNoRoof) {
  EXPECT_FALSE(host_link(with_links(0, 16)));
  EXPECT_FALSE(host_link(with_links(4, 0)));
  EXPECT_FALSE(host_link(with_links(9, 16))) << "of a generation that nobody knows yet";
  EXPECT_FALSE(peer_link(with_links(4, 16))) << "whether there is NVLink is not known";
  EXPECT_FALSE(peer_link(with_links(4, 16, 12, 0)));
  EXPECT_FALSE(peer_link(with_links(4, 16, 12, 9)));
  EXPECT_TRUE(link_ceilings(DeviceInfo{}).empty());
  DeviceInfo grace = with_links(5, 16, 18, 4);
  grace.name = "NVIDIA GH200 480GB";
  EXPECT_FALSE(host_link(grace)) << "its host is behind NVLink-C2C";
  EXPECT_TRUE(peer_link(grace));
}

TEST(LinkRoofs, GpusWithoutNvlinkTalkOverPcie) {
  const DeviceInfo device = with_links(4, 16, 0);
  ASSERT_TRUE(peer_link(device));
  EXPECT_EQ(peer_link(device)->name, "pcie");
  EXPECT_EQ(link_ceilings(device).size(), 1u) << "once";
  const auto both = link_ceilings(with_links(5, 16, 18, 4));
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0].source, "theoretical: PCIe 5.0 x16, each way");
  EXPECT_EQ(both[1].source, "theoretical: NVLink 4, 18 links, each way");
  EXPECT_EQ(both[1].kind, CeilingKind::link);
  EXPECT_EQ(both[1].device, 3);
}

class LinkUseOf : public ::testing::Test {
 protected:
  LinkUseOf() { report.devices = {with_links(4, 16, 12, 3)}; }
  CopyRow copy(CopyKind kind, Maybe bytes, Maybe time_ns, std::int32_t device = 3) {
    CopyRow& row = report.copies.emplace_back();
    row.kind = kind;
    row.device = device;
    row.bytes = bytes;
    row.time_ns = time_ns;
    fill_link_roofs(report);
    return report.copies.back();
  }
  CollectiveRow collective(bool one_node, Maybe bus_bytes, Maybe time_ns) {
    KernelRow& row = report.kernels.emplace_back();
    row.device = 3;
    row.time_mean_ns = time_ns;
    row.collective.emplace();
    row.collective->one_node = one_node;
    row.collective->bus_bytes = bus_bytes;
    fill_link_roofs(report);
    return *report.kernels.back().collective;
  }
  Report report;
};

TEST_F(LinkUseOf, CopiesByWhatTheyGoOver) {
  const CopyRow down = copy(CopyKind::host_to_device, 15754.0, 1000.0);  // 15.754 GB/s of 31.508
  EXPECT_NEAR(down.roof.fraction.value_or(0), 0.5, 1e-4);
  EXPECT_EQ(down.roof.ceiling, "pcie");
  EXPECT_EQ(down.roof.source, "theoretical");
  EXPECT_EQ(copy(CopyKind::device_to_host, 1.0, 1.0).roof.ceiling, "pcie");
  const CopyRow peer = copy(CopyKind::peer, 150000.0, 1000.0);  // 150 GB/s of 300
  EXPECT_DOUBLE_EQ(peer.roof.fraction.value_or(0), 0.5);
  EXPECT_EQ(peer.roof.ceiling, "nvlink");
  EXPECT_FALSE(copy(CopyKind::device_to_device, 1.0, 1.0).roof.fraction);
  EXPECT_FALSE(copy(CopyKind::memset, 1.0, 1.0).roof.fraction);
}

TEST_F(LinkUseOf, WhatWasMeasuredGoesFirst) {
  report.ceilings = {{3, CeilingKind::link, "host_to_device", 20e9, "measured: x", SmClock::none}};
  const CopyRow down = copy(CopyKind::host_to_device, 15000.0, 1000.0);
  EXPECT_DOUBLE_EQ(down.roof.fraction.value_or(0), 0.75);
  EXPECT_EQ(down.roof.ceiling, "host_to_device");
  EXPECT_EQ(down.roof.source, "measured");
  EXPECT_EQ(copy(CopyKind::device_to_host, 1.0, 1.0).roof.ceiling, "pcie") << "the other way";
  // Of a GPU in a faster slot than this one's.
  report.ceilings[0].value = 40e9;
  EXPECT_EQ(copy(CopyKind::host_to_device, 15754.0, 1000.0).roof.ceiling, "pcie");
  report.ceilings[0].device = 4;
  report.ceilings[0].value = 20e9;
  EXPECT_EQ(copy(CopyKind::host_to_device, 1.0, 1.0).roof.ceiling, "pcie") << "another GPU's";
}

TEST_F(LinkUseOf, WhatADataSheetSaysStandsInForAttributes) {
  report.devices.front().links = {};
  EXPECT_FALSE(copy(CopyKind::host_to_device, 1.0, 1.0).roof.fraction);
  report.ceilings = {
      {3, CeilingKind::link, "pcie", 30e9, "theoretical: a sheet", SmClock::none},
      {3, CeilingKind::link, "nvlink", 300e9, "theoretical: a sheet", SmClock::none}};
  EXPECT_DOUBLE_EQ(copy(CopyKind::host_to_device, 15e3, 1e3).roof.fraction.value_or(0), 0.5);
  EXPECT_DOUBLE_EQ(copy(CopyKind::peer, 150e3, 1e3).roof.fraction.value_or(0), 0.5);
  EXPECT_DOUBLE_EQ(collective(true, 75e3, 1e3).roof.fraction.value_or(0), 0.25);
}

TEST_F(LinkUseOf, NoFractionWithoutBothParts) {
  for (const CopyRow& row :
       {copy(CopyKind::host_to_device, {}, 1000.0), copy(CopyKind::host_to_device, 1.0, {}),
        copy(CopyKind::host_to_device, 1.0, 0.0), copy(CopyKind::host_to_device, 1.0, 1.0, 4)}) {
    EXPECT_FALSE(row.roof.fraction);
    EXPECT_EQ(row.roof.ceiling, "");
  }
}

TEST_F(LinkUseOf, CollectivesWhereNoNetworkIsInBetween) {
  const CollectiveRow here = collective(true, 75000.0, 1000.0);
  EXPECT_DOUBLE_EQ(here.bus_bytes_per_s.value_or(0), 75e9);
  EXPECT_DOUBLE_EQ(here.roof.fraction.value_or(0), 0.25);
  EXPECT_EQ(here.roof.ceiling, "nvlink");
  const CollectiveRow far = collective(false, 75000.0, 1000.0);
  EXPECT_DOUBLE_EQ(far.bus_bytes_per_s.value_or(0), 75e9);
  EXPECT_FALSE(far.roof.fraction);
  EXPECT_FALSE(collective(true, {}, 1000.0).bus_bytes_per_s);
  EXPECT_FALSE(collective(true, 1.0, {}).roof.fraction);
}

}  // namespace
}  // namespace gable::tests

// SPDX-License-Identifier: Apache-2.0
// What exports say of GPUs and of themselves.
#include "tests/unit/tools/import/nsys/nsys_file.h"
#include "tools/import/nsys/nsys_texts.h"

namespace gable {
namespace {

class NsysDevices : public NsysFile {
 protected:
  void devices() {
    SqliteFile file(path, "run.sqlite");
    read_nsys_devices(file, imported);
  }
};

constexpr const char* kTable =
    "CREATE TABLE TARGET_INFO_GPU (id INT, cuDevice INT, name TEXT, chipName TEXT, smCount INT,"
    " clockRate INT, memoryBandwidth INT, l2CacheSize INT, totalMemory INT, computeMajor INT,"
    " computeMinor INT);";

TEST_F(NsysDevices, EveryAttributeAndTheBandwidthAsARoof) {
  run(std::string(kTable) +
      "INSERT INTO TARGET_INFO_GPU VALUES (5, 2, 'H100', 'GH100', 132, 1980, 3350, 50, 80, 9, 1)");
  devices();
  ASSERT_EQ(imported.devices.size(), 1u);
  const DeviceInfo& device = imported.devices.at(2);
  EXPECT_EQ(device.id, 2);
  EXPECT_EQ(device.name, "H100");
  EXPECT_EQ(device.chip, "GH100");
  EXPECT_EQ(device.sm_count, 132);
  EXPECT_EQ(device.sm_clock_max_hz, 1980u);
  EXPECT_EQ(device.l2_bytes, 50u);
  EXPECT_EQ(device.memory_bytes, 80u);
  EXPECT_EQ(device.compute_major, 9);
  EXPECT_EQ(device.compute_minor, 1);
  ASSERT_EQ(imported.stated.size(), 1u);
  EXPECT_EQ(imported.stated[0].device, 2);
  EXPECT_EQ(imported.stated[0].name, "dram");
  EXPECT_EQ(imported.stated[0].kind, CeilingKind::memory);
  EXPECT_EQ(imported.stated[0].value, 3350);
}

TEST_F(NsysDevices, AdaptersThatCudaLacksAreNone) {
  run(std::string(kTable) +
      "INSERT INTO TARGET_INFO_GPU VALUES (0, NULL, 'a', '', 0, 0, 7, 0, 9, 0, 0),"
      "(1, NULL, 'b', '', 3, 0, 0, 0, 0, 0, 0), (2, NULL, 'c', '', 0, 3, NULL, 0, 0, 0, 0),"
      "(3, NULL, 'd', '', 0, 0, 0, 0, 0, 3, 0)");
  devices();
  EXPECT_FALSE(imported.devices.contains(0));
  for (const std::int32_t id : {1, 2, 3}) EXPECT_TRUE(imported.devices.contains(id)) << id;
  EXPECT_TRUE(imported.stated.empty());
}

TEST_F(NsysDevices, ProcessesHaveNumbersOfTheirOwnForThem) {
  run(std::string(kTable) +
      "INSERT INTO TARGET_INFO_GPU VALUES (0, 0, 'a', '', 1, 1, 10, 0, 0, 9, 0),"
      "(1, 1, 'b', '', 1, 1, 20, 0, 0, 9, 0), (2, 7, 'c', '', 1, 1, 30, 0, 0, 9, 0);"
      "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INT, cudaId INT);"
      "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (1, 0), (1, 4), (-1, 9), (0, -1)");
  devices();
  ASSERT_EQ(imported.devices.size(), 3u) << "0 is taken by the second";
  EXPECT_EQ(imported.devices.at(0).name, "b");
  EXPECT_EQ(imported.devices.at(4).name, "b");
  EXPECT_EQ(imported.devices.at(7).name, "c");
  ASSERT_EQ(imported.stated.size(), 3u);
  EXPECT_EQ(imported.stated[1].device, 4);
  EXPECT_EQ(imported.stated[1].value, 20);
}

TEST_F(NsysDevices, OldExportsHaveThemInKilo) {
  run("CREATE TABLE TARGET_INFO_CUDA_GPU (deviceId INT, name TEXT, numMultiprocessors INT,"
      " coreClockRate INT, globalMemoryBandwidth INT, l2CacheSize INT, globalMemorySize INT,"
      " computeCapabilityMajor INT, computeCapabilityMinor INT);"
      "INSERT INTO TARGET_INFO_CUDA_GPU VALUES (1, 'V100', 80, 1530000, 900000000, 6, 16, 7, 2),"
      "(1, 'V100', 80, 1530000, 900000000, 6, 16, 7, 2), (2, 'V100', 80, 1, 0, 6, 16, 7, 2)");
  devices();
  ASSERT_EQ(imported.devices.size(), 2u);
  const DeviceInfo& device = imported.devices.at(1);
  EXPECT_EQ(device.id, 1);
  EXPECT_EQ(device.name, "V100");
  EXPECT_EQ(device.sm_count, 80);
  EXPECT_EQ(device.sm_clock_max_hz, 1'530'000'000u);
  EXPECT_EQ(device.l2_bytes, 6u);
  EXPECT_EQ(device.memory_bytes, 16u);
  EXPECT_EQ(device.compute_major, 7);
  EXPECT_EQ(device.compute_minor, 2);
  ASSERT_EQ(imported.stated.size(), 1u) << "each process has a row";
  EXPECT_EQ(imported.stated[0].value, 900e9);
  EXPECT_EQ(imported.stated[0].device, 1);
}

TEST_F(NsysDevices, WithoutATableNothingIsKnown) {
  devices();
  EXPECT_TRUE(imported.devices.empty());
}

TEST_F(NsysDevices, TheVersionOfNsys) {
  const auto version = [&] {
    SqliteFile file(path, "run.sqlite");
    return nsys_version(file);
  };
  EXPECT_EQ(version(), "");
  run("CREATE TABLE EXPORT_META_DATA (name TEXT, value TEXT);"
      "INSERT INTO EXPORT_META_DATA VALUES ('EXPORT_PRODUCT_VERSION', '2022.1')");
  EXPECT_EQ(version(), " 2022.1");
  run("CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);"
      "INSERT INTO META_DATA_EXPORT VALUES ('OTHER', 'x')");
  EXPECT_EQ(version(), " 2022.1");
  run("INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_VERSION', '" + std::string(40, '3') +
      "')");
  EXPECT_EQ(version(), " " + std::string(32, '3'));
}

}  // namespace
}  // namespace gable

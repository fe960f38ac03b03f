// SPDX-License-Identifier: Apache-2.0
#include "tools/import/xla/xla_texts.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace gable {
namespace {

TEST(XlaTexts, APlaceHasADeviceAndAProcess) {
  const XlaPlace gpu = xla_place("/device:GPU:12 [4711]");
  EXPECT_EQ(gpu.kind, XlaPlace::Kind::gpu);
  EXPECT_EQ(gpu.device, 12);
  EXPECT_EQ(gpu.process, "4711");
  EXPECT_EQ(xla_place("/device:GPU:1048576").device, 1048576);
  EXPECT_EQ(xla_place("/device:GPU:1048577").kind, XlaPlace::Kind::other);
  EXPECT_EQ(xla_place("/device:TPU:0").kind, XlaPlace::Kind::other_device);
  EXPECT_EQ(xla_place("/host:CPU").kind, XlaPlace::Kind::host);
  EXPECT_EQ(xla_place("/host:CPU [7").process, "");
  EXPECT_EQ(xla_place("Task").kind, XlaPlace::Kind::other);
}

TEST(XlaTexts, ALaneIsKnownByItsName) {
  EXPECT_EQ(xla_lane("Stream #7(Compute)"), XlaLane::stream);
  EXPECT_EQ(xla_lane("CUPTI overhead"), XlaLane::overhead);
  EXPECT_EQ(xla_lane("Steps"), XlaLane::steps);
  EXPECT_EQ(xla_lane("XLA Ops"), XlaLane::other);
}

TEST(XlaTexts, ADetailStandsBehindItsKey) {
  EXPECT_EQ(xla_detail("grid:8,1,1 block:256,1,1\nregs:32", "grid"), "8,1,1");
  EXPECT_EQ(xla_detail("grid:8,1,1 block:256,1,1\nregs:32", "block"), "256,1,1");
  EXPECT_EQ(xla_detail("grid:8,1,1 block:256,1,1\nregs:32", "regs"), "32");
  EXPECT_EQ(xla_detail("regs gridx:1", "grid"), "");
  EXPECT_EQ(xla_detail("regs gridx:1", "regs"), "");
}

TEST(XlaTexts, NumbersAndSizesAreWhole) {
  EXPECT_EQ(xla_number("7", 7), 7u);
  EXPECT_EQ(xla_number("8", 7), std::nullopt);
  EXPECT_EQ(xla_number(std::string_view("123").substr(0, 2), 999), 12u);
  EXPECT_EQ(xla_number("7x", 9), std::nullopt);
  EXPECT_EQ(xla_number("", 9), std::nullopt);
  const auto size = xla_size("2,3,4");
  ASSERT_TRUE(size);
  EXPECT_EQ(size->x, 2u);
  EXPECT_EQ(size->y, 3u);
  EXPECT_EQ(size->z, 4u);
  EXPECT_FALSE(xla_size("2,3"));
  EXPECT_FALSE(xla_size("2,0,4"));
}

TEST(XlaTexts, BordersOfPlacesDetailsAndSizes) {
  EXPECT_EQ(xla_place("/host:CPU]").process, "");
  EXPECT_EQ(xla_place("/host:CPU [7]").process, "7");
  EXPECT_EQ(xla_place("/host:CPU [7]").kind, XlaPlace::Kind::host);
  EXPECT_EQ(xla_place("/device:GPU:").kind, XlaPlace::Kind::other);
  EXPECT_EQ(xla_place("/device:GPU:7").device, 7);
  EXPECT_EQ(xla_detail(std::string_view("regs:1").substr(0, 4), "regs"), "");
  EXPECT_EQ(xla_detail("a b:2", "b"), "2");
  EXPECT_EQ(xla_detail("", "b"), "");
  const auto size = xla_size("4294967295,1,1");
  ASSERT_TRUE(size);
  EXPECT_EQ(size->x, 4294967295u);
  EXPECT_EQ(size->y, 1u);
  EXPECT_FALSE(xla_size("4294967296,1,1"));
  EXPECT_FALSE(xla_size(""));
}

TEST(XlaTexts, TextsAreFoundByTheirKeysAndCleared) {
  XlaTexts texts;
  EXPECT_EQ(texts.find("name"), &texts.name);
  EXPECT_EQ(texts.find("hlo_op"), &texts.hlo_op);
  EXPECT_EQ(texts.find("hlo_module"), &texts.hlo_module);
  EXPECT_EQ(texts.find("tf_op"), &texts.tf_op);
  EXPECT_EQ(texts.find("annotation"), &texts.annotation);
  EXPECT_EQ(texts.find("kernel_details"), &texts.kernel);
  for (const char* key : {"memcpy_details", "memset_details", "Memset_details"})
    EXPECT_EQ(texts.find(key), &texts.copy) << key;
  EXPECT_EQ(texts.find("other"), nullptr);
  for (const char* key :
       {"name", "hlo_op", "hlo_module", "tf_op", "annotation", "kernel_details", "memcpy_details"})
    *texts.find(key) = "x";
  texts.correlation = 7;
  texts.numbered_step = texts.whole_graph = true;
  texts.clear();
  for (const char* key :
       {"name", "hlo_op", "hlo_module", "tf_op", "annotation", "kernel_details", "memcpy_details"})
    EXPECT_EQ(*texts.find(key), "") << key;
  EXPECT_FALSE(texts.correlation);
  EXPECT_FALSE(texts.numbered_step);
  EXPECT_FALSE(texts.whole_graph);
}

TEST(XlaTexts, ACopyIsToldByItsDetailsOrName) {
  XlaTexts none, copy, kernel;
  copy.copy = "size:4";
  kernel.kernel = "regs:4";
  EXPECT_TRUE(is_xla_copy("x", copy));
  EXPECT_FALSE(is_xla_copy("x", none));
  for (const char* name : {"MemcpyH2D", "Memset", "CopyDeviceToHost", "CopyHostToDevice"}) {
    EXPECT_TRUE(is_xla_copy(name, none)) << name;
    EXPECT_FALSE(is_xla_copy(name, kernel)) << name;
    EXPECT_FALSE(is_xla_copy(std::string("x") + name, none)) << name;
  }
  struct Case {
    const char* name;
    CopyKind kind;
  };
  for (const auto& [name, kind] :
       {Case{"Memset", CopyKind::memset}, Case{"memset", CopyKind::memset},
        Case{"MemcpyH2D", CopyKind::host_to_device},
        Case{"CopyHostToDevice", CopyKind::host_to_device},
        Case{"MemcpyD2H", CopyKind::device_to_host},
        Case{"CopyDeviceToHost", CopyKind::device_to_host},
        Case{"MemcpyD2D", CopyKind::device_to_device},
        Case{"CopyDeviceToDevice", CopyKind::device_to_device}, Case{"MemcpyP2P", CopyKind::peer},
        Case{"PeerToPeer", CopyKind::peer}, Case{"Memcpy", CopyKind::other}})
    EXPECT_EQ(xla_copy_kind(name), kind) << name;
}

TEST(XlaTexts, AHostsMemoryIsThatOfItsSide) {
  struct Case {
    const char* details;
    CopyKind kind;
    HostMemory memory;
  };
  for (const auto& [details, kind, memory] :
       {Case{"kind_src:pinned kind_dst:device", CopyKind::host_to_device, HostMemory::pinned},
        Case{"kind_src:pageable", CopyKind::host_to_device, HostMemory::pageable},
        Case{"kind_src:managed_x", CopyKind::host_to_device, HostMemory::managed},
        Case{"kind_src:array", CopyKind::host_to_device, HostMemory::unknown},
        Case{"kind_src:device kind_dst:pinned", CopyKind::device_to_host, HostMemory::pinned},
        Case{"kind_src:pinned kind_dst:device", CopyKind::device_to_host, HostMemory::unknown},
        Case{"kind_src:pinned kind_dst:pinned", CopyKind::device_to_device, HostMemory::unknown}})
    EXPECT_EQ(xla_host_memory(details, kind), memory) << details;
}

TEST(XlaTexts, AScopeIsToldInOneOfThreeWays) {
  const auto scope = [](std::string name, std::string tf_op, std::string annotation) {
    XlaTexts texts;
    texts.name = std::move(name);
    texts.tf_op = std::move(tf_op);
    texts.annotation = std::move(annotation);
    return std::string(xla_scope(texts));
  };
  EXPECT_EQ(scope("a:b", "c:d", "e:f"), "a:b");
  EXPECT_EQ(scope("", "a/b:c:MatMul", "e:f"), "a/b:c");
  EXPECT_EQ(scope("", "a/b", ""), "a/b");
  EXPECT_EQ(scope("", "XlaModule:", "e:f"), "");
  EXPECT_EQ(scope("", "", "a/b:MatMul#shape=(x:y)#"), "a/b");
  EXPECT_EQ(scope("", "", "a/b"), "a/b");
  EXPECT_EQ(scope("", "", ""), "");
}

}  // namespace
}  // namespace gable

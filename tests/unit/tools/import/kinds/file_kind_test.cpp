// SPDX-License-Identifier: Apache-2.0
#include "tools/import/kinds/file_kind.h"

#include <gtest/gtest.h>

namespace gable {
namespace {

TEST(FileKind, IsToldByTheFirstBytes) {
  EXPECT_EQ(kind_of_bytes("BZh9"), FileKind::archive);
  EXPECT_EQ(kind_of_bytes(std::string(257, ' ') + "ustar"), FileKind::archive);
  EXPECT_EQ(kind_of_bytes(std::string(256, ' ') + "ustar"), FileKind::unknown);
  EXPECT_EQ(kind_of_bytes("QDSTRM"), FileKind::nsys_capture);
  EXPECT_EQ(kind_of_bytes("PAR1"), FileKind::parquet);
  EXPECT_EQ(kind_of_bytes("ARROW1"), FileKind::arrow);
  EXPECT_EQ(kind_of_bytes("\xff\xff\xff\xff"), FileKind::arrow);
  EXPECT_EQ(kind_of_bytes("\x0a\x0d\x08\x01\x12\x09/host:CPU"), FileKind::xplane);
  EXPECT_EQ(kind_of_bytes("==x\n\"ID\",\"a\""), FileKind::ncu_csv);
  EXPECT_EQ(kind_of_bytes(" \n<HTML>"), FileKind::web_page);
  EXPECT_EQ(kind_of_bytes("{\"message\":1}"), FileKind::web_page);
  EXPECT_EQ(kind_of_bytes("{\"gable\":1,\"schema\":2}"), FileKind::gable_report);
  EXPECT_EQ(kind_of_bytes("{\"traceEvents\":[]}"), FileKind::chrome_trace);
  EXPECT_EQ(kind_of_bytes("[{\"frame\":1,\"metrics\":2}]"), FileKind::hatchet);
  EXPECT_EQ(kind_of_bytes("a\n==7== NVPROF is profiling process 7"), FileKind::nvprof);
  EXPECT_EQ(kind_of_bytes("\"Kind\",\"Agent_Id\","), FileKind::rocprof);
  EXPECT_EQ(kind_of_bytes(""), FileKind::unknown);
}

}  // namespace
}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// What a metric of a given name counts. Names that only other tools' files have are among them.
#include "analysis/events/quantities.h"

#include <gtest/gtest.h>

namespace gable {
namespace {

TEST(Quantities, NamesThatOtherToolsUseForTheSame) {
  struct Same {
    const char *name, *own;
    double bytes;  // that one of it is
  };
  for (const Same& same : {Same{"dram__bytes_read.sum", "dram__sectors_read.sum", 1},
                           {"dram__bytes_write.sum", "dram__sectors_write.sum", 1},
                           {"dram__bytes_op_read.sum", "dram__sectors_op_read.sum", 1},
                           {"dram__bytes_op_write.sum", "dram__sectors_op_write.sum", 1}}) {
    const MetricRole* const role = role_of(same.name);
    const MetricRole* const own = role_of(same.own);
    ASSERT_TRUE(role != nullptr && own != nullptr) << same.name;
    EXPECT_EQ(role->quantity, own->quantity) << same.name;
    EXPECT_EQ(role->weight, same.bytes) << same.name;
    EXPECT_EQ(own->weight, 32) << same.own;
  }
  EXPECT_EQ(role_of("dram__bytes_op_read.sum")->quantity, Quantity::bytes_dram_read);
  EXPECT_EQ(role_of("dram__bytes_op_write.sum")->quantity, Quantity::bytes_dram_write);
  EXPECT_EQ(role_of("dram__bytes.sum")->quantity, Quantity::bytes_dram);
  EXPECT_EQ(role_of("dram__sectors.sum")->weight, 32);
  EXPECT_EQ(role_of("lts__t_bytes_srcunit_tex.sum")->quantity, Quantity::bytes_l2);
}

}  // namespace
}  // namespace gable

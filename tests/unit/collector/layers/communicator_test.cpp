// SPDX-License-Identifier: Apache-2.0
#include "collector/layers/communicator.h"

#include <gtest/gtest.h>

namespace gable {
namespace {

TEST(Communicators, OneIsMadeInNcclsOwnDomain) {
  EXPECT_EQ(made_in("NCCL", "ncclCommInitAll"), Communicator::own_gpus);
  EXPECT_EQ(made_in("NCCL", "ncclCommInitRank"), Communicator::processes);
  EXPECT_EQ(made_in("NCCL", "ncclAllReduce"), Communicator::none);
  EXPECT_EQ(made_in("mine", "ncclCommInitAll"), Communicator::none);
}

}  // namespace
}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
#include "collector/layers/module_table.h"

#include <gtest/gtest.h>

namespace gable {
namespace {

TEST(ModuleTable, AModuleHasToBeNamedOnceInEachLayer) {
  ModuleTable table;
  ThreadModules thread;
  EXPECT_FALSE(table.find(thread, 1, 77));
  table.add(1, 77, {5, 2});
  table.add(2, 77, {6, 0});
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(table.find(thread, 1, 77)->layer, 5U);
    EXPECT_EQ(table.find(thread, 1, 77)->levels, 2U);
    EXPECT_EQ(table.find(thread, 2, 77)->layer, 6U);
    EXPECT_FALSE(table.find(thread, 3, 77));
    EXPECT_FALSE(table.find(thread, 1, 78));
  }
  EXPECT_EQ(table.last_layer(77), 6U);
  EXPECT_EQ(table.last_layer(78), 0U);
}

TEST(ModuleTable, ATokenThatIsGivenAgainIsAnotherModule) {
  ModuleTable table;
  ThreadModules thread, other_thread;
  table.add(1, 77, {5, 1});
  ASSERT_TRUE(table.find(thread, 1, 77));
  ASSERT_TRUE(table.find(other_thread, 1, 77));
  table.forget(77);
  EXPECT_FALSE(table.find(thread, 1, 77)) << "also not from the thread's own cache";
  EXPECT_FALSE(table.find(other_thread, 1, 77));
  table.add(1, 77, {9, 1});
  EXPECT_EQ(table.find(thread, 1, 77)->layer, 9U);
}

TEST(ModuleTable, TokensThatShareASlotAreToldApart) {
  ModuleTable table;
  ThreadModules thread;
  for (ModuleToken token = 1; token <= 3 * ThreadModules::kSlots; ++token)
    table.add(1, token, {static_cast<LayerId>(token), 1});
  for (ModuleToken token = 1; token <= 3 * ThreadModules::kSlots; ++token)
    ASSERT_EQ(table.find(thread, 1, token)->layer, token);
}

// A module that is called from ever other layers is known in so many of them; then anew.
TEST(ModuleTable, OfOneModuleThereIsRoomForSoManyParents) {
  ModuleTable table;
  ThreadModules thread;
  for (LayerId parent = 1; parent <= 4096; ++parent) table.add(parent, 77, {parent + 10, 1});
  ASSERT_TRUE(table.find(thread, 1, 77));
  EXPECT_EQ(table.find(thread, 4096, 77)->layer, 4106U);
  table.add(4097, 77, {5, 1});
  EXPECT_FALSE(table.find(thread, 1, 77)) << "also not from the thread's own cache";
  EXPECT_FALSE(table.find(thread, 4096, 77));
  EXPECT_EQ(table.find(thread, 4097, 77)->layer, 5U);
  EXPECT_EQ(table.last_layer(77), 5U);
}

}  // namespace
}  // namespace gable

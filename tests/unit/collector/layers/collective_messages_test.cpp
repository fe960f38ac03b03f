// SPDX-License-Identifier: Apache-2.0
#include "collector/layers/collective_messages.h"

#include <gtest/gtest.h>

namespace gable::tests {
namespace {

class CollectiveMessagesOf : public ::testing::Test {
 protected:
  void call(std::string_view name, std::uint64_t bytes) {
    CollectiveMessage message;
    message.kind = collective_named(name);
    message.bytes = bytes;
    message.sized = true;
    messages.opened(name, message);
  }
  void group(const char* name) {
    messages.opened(name, std::nullopt);
    if (std::string_view(name) == "ncclGroupStart") messages.closed();
  }
  // 0: none, or one without a size.
  std::uint64_t launched() {
    const auto message = messages.take();
    return message && message->sized ? message->bytes : 0;
  }
  CollectiveMessages messages;
};

TEST_F(CollectiveMessagesOf, ACallLaunchesWhatItSays) {
  EXPECT_FALSE(messages.any());
  EXPECT_FALSE(messages.take());
  call("ncclAllReduce", 100);
  EXPECT_TRUE(messages.any());
  const auto message = messages.take();
  ASSERT_TRUE(message);
  EXPECT_EQ(message->kind, Collective::all_reduce);
  EXPECT_EQ(message->bytes, 100u);
  messages.closed();
  EXPECT_FALSE(messages.take()) << "launched by something else";
  call("ncclAllReduce", 200);
  EXPECT_EQ(launched(), 200u);
}

TEST_F(CollectiveMessagesOf, ASecondKernelOfACallHasAPartOfIt) {
  call("ncclAllReduce", 100);
  EXPECT_EQ(launched(), 100u);
  const auto second = messages.take();
  ASSERT_TRUE(second) << "it is one of a collective";
  EXPECT_FALSE(second->sized);
}

TEST_F(CollectiveMessagesOf, AGroupOfOneLaunchesAtItsEnd) {
  group("ncclGroupStart");
  call("ncclAllGather", 100);
  messages.closed();
  messages.opened("ncclGroupEnd", std::nullopt);
  EXPECT_EQ(launched(), 100u);
  messages.closed();
  EXPECT_FALSE(messages.take());
}

TEST_F(CollectiveMessagesOf, OfAGroupOfSeveralNobodyKnowsWhichKernelDoesWhich) {
  group("ncclGroupStart");
  for (const std::uint64_t bytes : {100, 200}) {
    call("ncclSend", bytes);
    messages.closed();
  }
  messages.opened("ncclGroupEnd", std::nullopt);
  const auto message = messages.take();
  ASSERT_TRUE(message);
  EXPECT_FALSE(message->sized);
  EXPECT_EQ(message->kind, Collective::unknown);
}

TEST_F(CollectiveMessagesOf, GroupsWithinGroupsLaunchAtTheOutermostEnd) {
  group("ncclGroupStart");
  group("ncclGroupStart");
  call("ncclAllReduce", 100);
  messages.closed();
  messages.opened("ncclGroupEnd", std::nullopt);
  messages.closed();
  messages.opened("ncclGroupEnd", std::nullopt);
  EXPECT_EQ(launched(), 100u);
}

TEST_F(CollectiveMessagesOf, ACallThatLaunchesNothingLeavesNothing) {
  call("ncclAllReduce", 100);  // by copy engines
  messages.closed();
  messages.opened("ncclCommDestroy", std::nullopt);
  EXPECT_FALSE(messages.take());
}

TEST_F(CollectiveMessagesOf, EndsWithoutBeginningsAndAWayDown) {
  messages.closed();
  for (int i = 0; i < 1000; ++i) call("ncclAllReduce", 1);
  messages.forget();
  EXPECT_FALSE(messages.any());
  EXPECT_FALSE(messages.take());
}

}  // namespace
}  // namespace gable::tests

// SPDX-License-Identifier: Apache-2.0
// Every transition that the table allows is taken, every other one is refused and changes nothing.
#include "collector/queue/window_state.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace gable {
namespace {

using State = WindowState::State;
using Event = WindowState::Event;

constexpr Phase kCounters{PhaseKind::hw, 1}, kTimes{PhaseKind::time, 0}, kWaits{PhaseKind::wait, 0};

bool take(WindowState& state, Event event) {
  switch (event) {
    case Event::begin:
      return state.begin(kCounters);
    case Event::pass:
      return state.begin(kWaits);
    case Event::follow:
      return state.follow();
    case Event::end:
      return state.end(false);
    case Event::rest:
      return state.rest();
    case Event::finish:
      return state.finish();
    case Event::revive:
      return state.revive();
    case Event::stop:
      return state.stop();
    case Event::let_go:
      return state.let_go();
    case Event::quit:
      return state.quit();
    case Event::reopen:
      return state.reopen();
    case Event::restart:
      return state.restart();
  }
  return false;
}

constexpr State kStates[] = {State::between,  State::announced, State::open, State::idle,
                             State::complete, State::stopped,   State::over};
constexpr Event kEvents[] = {Event::begin,  Event::pass,   Event::follow, Event::end,
                             Event::rest,   Event::finish, Event::revive, Event::stop,
                             Event::let_go, Event::quit,   Event::reopen, Event::restart};

// A state as the events lead to it.
WindowState in(State wanted) {
  const std::map<State, std::vector<Event>> ways = {
      {State::between, {}},
      {State::announced, {Event::begin}},
      {State::open, {Event::begin, Event::follow}},
      {State::idle, {Event::rest}},
      {State::complete, {Event::finish}},
      {State::stopped, {Event::stop}},
      {State::over, {Event::finish, Event::let_go}},
  };
  WindowState state;
  for (const auto event : ways.at(wanted)) EXPECT_TRUE(take(state, event));
  EXPECT_EQ(state.state(), wanted);
  return state;
}

TEST(WindowState, TakesTheStepsOfItsTableAndNoOther) {
  std::size_t allowed = 0;
  for (const auto from : kStates) {
    for (const auto event : kEvents) {
      const auto row =
          std::find_if(WindowState::kTransitions.begin(), WindowState::kTransitions.end(),
                       [&](const auto& each) { return each.from == from && each.event == event; });
      auto state = in(from);
      const auto window = state.window();
      const auto phase = state.phase();
      const bool taken = take(state, event);
      const auto where =
          std::string(to_string(from)) + ", event " + std::to_string(static_cast<int>(event));
      EXPECT_EQ(taken, row != WindowState::kTransitions.end()) << where;
      EXPECT_EQ(state.state(), taken ? row->to : from) << where;
      if (!taken) {
        EXPECT_EQ(state.window(), window) << where;
        EXPECT_EQ(state.phase(), phase) << where;
      }
      allowed += taken ? 1 : 0;
    }
  }
  EXPECT_EQ(allowed, WindowState::kTransitions.size());  // each row is reached, none is there twice
}

TEST(WindowState, LaunchesBelongToATimeWindowOnceCuptiFollows) {
  WindowState state;
  ASSERT_TRUE(state.begin(kTimes));
  EXPECT_TRUE(state.times());
  EXPECT_EQ(state.of_launches(), kNoWindow);
  ASSERT_TRUE(state.follow());
  EXPECT_EQ(state.of_launches(), state.window());
  ASSERT_TRUE(state.end(false));
  EXPECT_EQ(state.of_launches(), kNoWindow);
}

TEST(WindowState, ACounterWindowTakesTheLaunchThatMakesCuptiFollow) {
  WindowState state;
  ASSERT_TRUE(state.begin(kCounters));
  EXPECT_EQ(state.of_launches(), state.window());
  EXPECT_FALSE(state.begin_counting());  // not before CUPTI follows
  ASSERT_TRUE(state.follow());
  EXPECT_TRUE(state.begin_counting());
  EXPECT_TRUE(state.counting());
  EXPECT_TRUE(state.begin_counting());  // on another context
  ASSERT_TRUE(state.end(true));
  EXPECT_FALSE(state.counting());
}

TEST(WindowState, NoWindowOfWaitingIsCountedOrTimed) {
  WindowState state;
  ASSERT_TRUE(state.begin(kWaits));
  EXPECT_EQ(state.state(), State::open);
  EXPECT_FALSE(state.collects());
  EXPECT_FALSE(state.begin_counting());
  EXPECT_EQ(state.of_launches(), kNoWindow);
}

TEST(WindowState, AnOffPhaseIsNoWindow) {
  WindowState state;
  EXPECT_FALSE(state.begin({PhaseKind::off, 0}));
  EXPECT_EQ(state.state(), State::between);
  EXPECT_EQ(state.window(), kNoWindow);
}

TEST(WindowState, WhatEndedIsReadBeforeAnythingElse) {
  auto state = in(State::open);
  ASSERT_TRUE(state.end(true));
  ASSERT_TRUE(state.begin(kTimes));
  EXPECT_FALSE(state.follow());
  ASSERT_TRUE(state.read_one());
  EXPECT_TRUE(state.follow());
  EXPECT_FALSE(state.read_one());  // there is none

  ASSERT_TRUE(state.end(true));
  ASSERT_TRUE(state.finish());
  EXPECT_FALSE(state.to_let_go());
  EXPECT_FALSE(state.let_go());
  ASSERT_TRUE(state.read_one());
  EXPECT_TRUE(state.to_let_go());
  EXPECT_TRUE(state.let_go());
  EXPECT_FALSE(state.to_let_go());
}

TEST(WindowState, SeveralEndedWindowsMayWait) {
  WindowState state;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(state.begin(kCounters));
    ASSERT_TRUE(state.end(true));
  }
  EXPECT_EQ(state.unread(), 3u);
  ASSERT_TRUE(state.quit());  // the program ends: they are read all the same
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(state.read_one());
  EXPECT_EQ(state.unread(), 0u);
}

TEST(WindowState, WhatTheProgramStoppedIsNotRevived) {
  auto complete = in(State::complete), stopped = in(State::stopped);
  EXPECT_TRUE(complete.revive());
  EXPECT_FALSE(stopped.revive());
}

TEST(WindowState, WindowsKeepTheirNumbersOverQueues) {
  auto state = in(State::over);
  ASSERT_TRUE(state.reopen());
  ASSERT_TRUE(state.begin(kTimes));
  const auto first = state.window();
  EXPECT_GT(first, kNoWindow);
  ASSERT_TRUE(state.end(false));
  ASSERT_TRUE(state.restart());
  ASSERT_TRUE(state.begin(kTimes));
  EXPECT_EQ(state.window(), first + 1);
}

}  // namespace
}  // namespace gable

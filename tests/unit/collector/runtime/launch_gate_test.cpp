// SPDX-License-Identifier: Apache-2.0
// Who changes something waits for launches that are on their way, and for no other.
#include "collector/runtime/launch_gate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace gable {
namespace {

using std::chrono::milliseconds;

// A launch on another thread, from enter() to leave().
class Launch {
 public:
  explicit Launch(const LaunchGate& gate, std::uint32_t id) {
    thread_ = std::thread([this, &gate, id] {
      gate.enter(this_thread(), id);
      entered_ = true;
      while (!leaving_) std::this_thread::yield();
      LaunchGate::leave(this_thread());
      left_ = true;
      while (!ending_) std::this_thread::yield();
    });
    while (!entered_) std::this_thread::yield();
  }
  ~Launch() {
    leave();
    ending_ = true;
    thread_.join();
  }
  void leave() { leaving_ = true; }
  [[nodiscard]] bool left() const { return left_; }

 private:
  std::atomic<bool> entered_{false}, leaving_{false}, left_{false}, ending_{false};
  std::thread thread_;
};

TEST(LaunchGate, WaitsForALaunchOfAnotherThread) {
  const LaunchGate gate;
  Launch launch(gate, 1);
  std::thread leaver([&] { launch.leave(); });
  EXPECT_TRUE(gate.wait_for_others(std::chrono::seconds(60)).empty());
  leaver.join();
}

TEST(LaunchGate, GivesUpOnOneThatIsBlockedOnceAndTellsWhich) {
  const LaunchGate gate;
  const Launch launch(gate, 42);
  EXPECT_EQ(gate.wait_for_others(milliseconds(1)), std::vector<std::uint32_t>{42});
  EXPECT_TRUE(gate.wait_for_others(std::chrono::hours(1)).empty());  // it is not waited for again
}

TEST(LaunchGate, DoesNotWaitForItsOwnThread) {
  const LaunchGate gate;
  gate.enter(this_thread(), 7);
  EXPECT_TRUE(gate.wait_for_others(std::chrono::hours(1)).empty());
  LaunchGate::leave(this_thread());
}

TEST(LaunchGate, AMissedExitIsMadeUpForByTheNextLaunch) {
  const LaunchGate gate;
  gate.enter(this_thread(), 1);
  gate.enter(this_thread(), 2);
  std::vector<std::uint32_t> left;
  auto& launching = this_thread();
  std::thread([&] { left = gate.wait_for_others(milliseconds(1)); }).join();
  EXPECT_EQ(left, std::vector<std::uint32_t>{2});
  LaunchGate::leave(launching);
  LaunchGate::leave(launching);  // of a call that was no launch
  std::thread([&] { left = gate.wait_for_others(std::chrono::hours(1)); }).join();
  EXPECT_TRUE(left.empty());
}

}  // namespace
}  // namespace gable

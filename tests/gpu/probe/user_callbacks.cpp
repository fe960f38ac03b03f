// SPDX-License-Identifier: Apache-2.0
// User ranges as the product takes them: in the callbacks of launches, with each call made there or
// on another thread.
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "tests/gpu/probe/experiments.h"

namespace gable::probe {
namespace {

// Makes a call, or has it made on another thread while this one waits.
using Caller = std::function<bool(const std::function<bool()>&)>;

bool call_here(const std::function<bool()>& call) { return call(); }

// A thread that launches nothing makes the calls, one by one.
class Helper {
 public:
  explicit Helper(CUcontext context) : thread_([this, context] { run(context); }) {}
  ~Helper() {
    hand_over(nullptr);
    thread_.join();
  }
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;

  bool call(const std::function<bool()>& what) {
    hand_over(&what);
    std::unique_lock<std::mutex> hold(mutex_);
    changed_.wait(hold, [&] { return !asked_; });
    return answer_;
  }

 private:
  void hand_over(const std::function<bool()>* what) {
    const std::lock_guard<std::mutex> hold(mutex_);
    what_ = what;
    asked_ = true;
    changed_.notify_all();
  }
  void run(CUcontext context) {
    GABLE_CU(cuCtxSetCurrent, context);
    std::unique_lock<std::mutex> hold(mutex_);
    for (;;) {
      changed_.wait(hold, [&] { return asked_; });
      if (what_ == nullptr) return;
      hold.unlock();
      const bool answer = (*what_)();
      hold.lock();
      answer_ = answer;
      asked_ = false;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<bool()>* what_ = nullptr;
  bool asked_ = false, answer_ = false;
  std::thread thread_;
};

// What the product does: Start in the ENTER of a window's first launch, a range pushed at the ENTER
// and popped at the EXIT of each, that first one among them, Stop in the ENTER of a later launch.
void count_in_callbacks(const Work& work, const Caller& made, const char* where) {
  constexpr int kFrom = 5, kTo = 25;
  start_engine();
  Profiler profiler(work.context());
  bool started = false, stopped = false;
  int pushed = 0, popped = 0;
  follow_launches(
      [&](int number) {
        if (number == kFrom)
          started = made([&] {
            return profiler.enable() &&
                   profiler.configure(hw_pass(), CUPTI_UserRange, CUPTI_UserReplay, 64) &&
                   profiler.start();
          });
        if (number == kTo && started)
          stopped = made([&] { return profiler.stop() && profiler.decode(); });
        if (started && number >= kFrom && number < kTo)
          pushed += made([&] { return profiler.push(std::to_string(number).c_str()); }) ? 1 : 0;
      },
      [&](int number) {
        if (started && number >= kFrom && number < kTo)
          popped += made([&] { return profiler.pop(); }) ? 1 : 0;
      });
  for (int i = 0; i < kTo + 5; ++i) work.numbered(i);
  work.gpu.wait();
  const auto ranges = stopped ? profiler.read() : std::vector<Profiler::Range>{};
  const auto ctas = profiler.values(ranges, kCtas);
  const std::size_t right = right_by_name(ranges, ctas);
  bool first = false;
  for (std::size_t i = 0; i < ranges.size(); ++i)
    first = first || (ranges[i].name == std::to_string(kFrom) && ctas[i] == Work::grid_of(kFrom));
  answer(stopped && first && right == kTo - kFrom,
         std::to_string(right) + " of " + std::to_string(kTo - kFrom) +
             " launches counted in ranges pushed at their ENTER and popped at their EXIT" + where +
             "; the one "
             "that started the window is " +
             (first ? "among them" : "not"),
         {{"started", started},
          {"stopped", stopped},
          {"pushed", pushed},
          {"popped", popped},
          {"ranges", ranges.size()},
          {"right", right},
          {"first_right", first},
          {"dropped", profiler.dropped()}});
}

void user_callbacks() {
  const Work work;
  count_in_callbacks(work, call_here, "");
}

// The same where every call is made by a thread that launches nothing, for which the launching
// thread waits within its callback.
void user_helper() {
  const Work work;
  Helper helper(work.context());
  count_in_callbacks(
      work, [&](const std::function<bool()>& call) { return helper.call(call); },
      " by another thread");
}

}  // namespace

void add_user_callbacks(std::vector<Experiment>& list) {
  list.insert(list.end(), {{"user_callbacks", user_callbacks}, {"user_helper", user_helper}});
}

}  // namespace gable::probe

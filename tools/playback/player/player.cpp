// SPDX-License-Identifier: Apache-2.0
// gable-player RECORDING: the order of the operations is kept among all threads. One thread at a
// time holds the baton; it performs operations until one belongs to another thread.
#include "tools/playback/player/player.h"

#include <cstdio>
#include <cstdlib>

#include "tools/playback/driver/side.h"

namespace gable::playback {
namespace {

class Player {
 public:
  explicit Player(const Recording& recording) : performer_(recording) {
    stack_.push_back({&recording.ops, 0, 1});
    recording_ = &recording;
  }

  int run() {
    act(0);
    for (auto& [number, thread] : threads_) thread.join();
    if (!performer_.ending().wanted) performer_.finish();
    return performer_.ending().code;
  }

 private:
  struct Frame {
    const std::vector<RecordedOp>* ops;
    std::size_t next;
    std::uint64_t times;  // left, this one included
  };

  // The next operation that is not `play`; null at the end.
  const RecordedOp* next() {
    while (!stack_.empty()) {
      Frame& frame = stack_.back();
      if (frame.next == frame.ops->size()) {
        frame.next = 0;
        if (--frame.times == 0 || frame.ops->empty()) stack_.pop_back();
        continue;
      }
      const RecordedOp& op = (*frame.ops)[frame.next];
      if (op.kind != OpKind::play) return &op;
      ++frame.next;
      if (op.amount > 0) stack_.push_back({&recording_->sequences[op.index].ops, 0, op.amount});
    }
    return nullptr;
  }

  void act(int me) {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      turn_.wait(lock, [&] { return baton_ == me || done_; });
      if (done_) return;
      const RecordedOp* op = next();
      if (op == nullptr || performer_.ending().wanted) {
        done_ = true;
        turn_.notify_all();
        return;
      }
      if (op->thread != me) {
        baton_ = op->thread;
        if (baton_ != 0 && threads_.count(baton_) == 0) {
          threads_.emplace(baton_, std::thread([this, number = baton_] { act(number); }));
        }
        turn_.notify_all();
        continue;
      }
      ++stack_.back().next;
      // Nobody else acts while this thread has the baton; a signal handler or exit handler finds
      // the mutex free.
      lock.unlock();
      performer_.perform(*op);
      lock.lock();
    }
  }

  Performer performer_;
  const Recording* recording_ = nullptr;
  std::vector<Frame> stack_;
  std::mutex mutex_;
  std::condition_variable turn_;
  std::map<int, std::thread> threads_;
  int baton_ = 0;
  bool done_ = false;
};

}  // namespace
}  // namespace gable::playback

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: gable-player RECORDING\n", stderr);
    return 2;
  }
  // The playback GPU reads the recording itself; the player performs what it has read.
  setenv("GABLE_PLAYBACK", argv[1], 1);
  const gable::Recording& recording = gable_playback_gpu()->recording();
  // Not destroyed: a thread that ends the process leaves the others waiting for their turn.
  static auto* const player = new gable::playback::Player(recording);
  return player->run();
}

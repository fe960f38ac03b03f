// SPDX-License-Identifier: Apache-2.0
#include "tools/playback/cupti/activity_buffers.h"

#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <thread>
#include <utility>

#include "tools/playback/cupti/cupti_state.h"

namespace gable::playback {
namespace {

constexpr std::size_t kSmallestBuffer = 1024;  // a client's buffer must hold a few records

}  // namespace

std::uint8_t* Activity::place(std::size_t size) {
  if (current_ != nullptr) {
    const bool many = current_->max_records != 0 && current_->records >= current_->max_records;
    if (many || current_->valid + size > current_->size) full_.push_back(std::move(current_));
  }
  if (current_ == nullptr) {
    if (request_ == nullptr) return nullptr;
    auto buffer = std::make_unique<Buffer>();
    {
      const Callback callback(Inside::buffer);
      request_(&buffer->data, &buffer->size, &buffer->max_records);
    }
    if (buffer->data == nullptr) return nullptr;
    if (reinterpret_cast<std::uintptr_t>(buffer->data) % ACTIVITY_RECORD_ALIGNMENT != 0) {
      broken("an activity buffer is not aligned to 8 bytes");
      return nullptr;
    }
    if (buffer->size < kSmallestBuffer) {
      broken("an activity buffer is too small for records");
      return nullptr;
    }
    current_ = std::move(buffer);
  }
  std::uint8_t* at = current_->data + current_->valid;
  current_->valid += size;
  ++current_->records;
  return at;
}

void Activity::append(const Work& work) {
  const bool wanted = work.kind == Work::Kind::kernel ? kernels()
                      : work.kind == Work::Kind::copy ? enabled(CUPTI_ACTIVITY_KIND_MEMCPY).load()
                                                      : enabled(CUPTI_ACTIVITY_KIND_MEMSET).load();
  if (!wanted) return;
  Control& control = the_gpu().control();
  if (work.kind == Work::Kind::kernel && control.is("kernel_records", "silent")) return;
  if (work.kind == Work::Kind::kernel && control.is("kernel_records", "one_missing") &&
      !one_missed_.exchange(true))
    return;
  const std::lock_guard<std::timed_mutex> lock(mutex_);
  std::uint8_t* at = control.take_lost_record() ? nullptr : place(record_size(work));
  if (at == nullptr) {
    ++dropped_;
  } else {
    write_record(at, work,
                 enabled(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
                     ? CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL
                     : CUPTI_ACTIVITY_KIND_KERNEL);
    const bool zero = work.kind == Work::Kind::kernel && control.take_zero_timestamp();
    current_->slots.push_back({at, zero ? 0 : work.start_ns, zero ? 0 : work.end_ns});
    current_->last_end = std::max(current_->last_end, work.end_ns);
  }
  hand_over_full();
}

bool Activity::take_dropped(std::size_t& dropped) {
  // By the wall clock: the thread sanitizer of GCC 12 does not see locks taken by the steady one.
  const std::unique_lock<std::timed_mutex> lock(
      mutex_, std::chrono::system_clock::now() + std::chrono::seconds(5));
  if (!lock.owns_lock()) return false;
  dropped = std::exchange(dropped_, 0);
  return true;
}

void Activity::hand_over_full() {
  const std::uint64_t now = the_gpu().now();
  while (!full_.empty() && full_.front()->last_end <= now) {
    ready_.push_back(std::move(full_.front()));
    full_.pop_front();
    if (!worker_started_) {
      worker_started_ = true;
      // CUPTI's thread takes no signals of the program.
      sigset_t all, before;
      sigfillset(&all);
      pthread_sigmask(SIG_SETMASK, &all, &before);
      std::thread([this] { work(); }).detach();
      pthread_sigmask(SIG_SETMASK, &before, nullptr);
    }
    wake_.notify_one();
  }
}

void Activity::deliver(Buffer& buffer) {
  const std::uint64_t now = the_gpu().now();
  for (const Slot& slot : buffer.slots) {
    if (slot.end <= now) write_times(slot);
  }
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  {
    const std::lock_guard<std::timed_mutex> lock(mutex_);
    complete = complete_;
  }
  const Callback callback(Inside::buffer);
  if (complete != nullptr) complete(nullptr, 0, buffer.data, buffer.size, buffer.valid);
}

void Activity::work() {
  std::unique_lock<std::timed_mutex> lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return !ready_.empty(); });
    const std::unique_ptr<Buffer> buffer = std::move(ready_.front());
    ready_.pop_front();
    ++delivering_;
    lock.unlock();
    deliver(*buffer);
    lock.lock();
    --delivering_;
    idle_.notify_all();
  }
}

CUptiResult Activity::flush(bool forced) {
  std::deque<std::unique_ptr<Buffer>> mine;
  {
    std::unique_lock<std::timed_mutex> lock(mutex_);
    if (complete_ == nullptr) return CUPTI_ERROR_INVALID_OPERATION;
    const std::uint64_t now = the_gpu().now();
    std::deque<std::unique_ptr<Buffer>> kept;
    while (!full_.empty()) {
      auto& to = forced || full_.front()->last_end <= now ? mine : kept;
      to.push_back(std::move(full_.front()));
      full_.pop_front();
    }
    full_ = std::move(kept);
    if (current_ != nullptr && (forced || current_->last_end <= now))
      mine.push_back(std::move(current_));
    idle_.wait(lock, [&] { return ready_.empty() && delivering_ == 0; });
  }
  for (const auto& buffer : mine) deliver(*buffer);
  return CUPTI_SUCCESS;
}

}  // namespace gable::playback

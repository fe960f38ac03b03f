// SPDX-License-Identifier: Apache-2.0
// The playback libcupti: activity records. A record takes its place in a buffer of the client when its work is submitted,
// with both times 0, and gets its times when the virtual clock has passed its end. A buffer goes back to the client when it
// is full and complete (on a thread of CUPTI's own), or when it is flushed.
#include <pthread.h>
#include <signal.h>

#include <condition_variable>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "tests/playback/cupti_state.h"

namespace gable::playback {
namespace {

#if CUPTI_API_VERSION >= 130000
using KernelRecord = CUpti_ActivityKernel10;
#else
using KernelRecord = CUpti_ActivityKernel9;
#endif
using CopyRecord = CUpti_ActivityMemcpy6;
using MemsetRecord = CUpti_ActivityMemset4;

constexpr std::size_t kSmallestBuffer = 1024;  // a client's buffer must hold a few records

struct Slot {  // a record whose times are still to come
  std::uint8_t* record;
  std::uint64_t start, end;
};

struct Buffer {
  std::uint8_t* data = nullptr;
  std::size_t size = 0, valid = 0, max_records = 0, records = 0;
  std::vector<Slot> slots;
  std::uint64_t last_end = 0;
};

std::size_t size_of(const CUpti_Activity* record) {
  switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: return sizeof(KernelRecord);
    case CUPTI_ACTIVITY_KIND_MEMCPY: return sizeof(CopyRecord);
    case CUPTI_ACTIVITY_KIND_MEMSET: return sizeof(MemsetRecord);
    default: return 0;
  }
}

void write_times(const Slot& slot) {
  auto* any = reinterpret_cast<CUpti_Activity*>(slot.record);
  if (any->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
    reinterpret_cast<CopyRecord*>(any)->start = slot.start;
    reinterpret_cast<CopyRecord*>(any)->end = slot.end;
  } else if (any->kind == CUPTI_ACTIVITY_KIND_MEMSET) {
    reinterpret_cast<MemsetRecord*>(any)->start = slot.start;
    reinterpret_cast<MemsetRecord*>(any)->end = slot.end;
  } else {
    reinterpret_cast<KernelRecord*>(any)->start = slot.start;
    reinterpret_cast<KernelRecord*>(any)->end = slot.end;
  }
}

class Activity {
 public:
  static Activity& get() {
    static auto* activity = new Activity;
    return *activity;
  }

  CUptiResult register_callbacks(CUpti_BuffersCallbackRequestFunc request, CUpti_BuffersCallbackCompleteFunc complete) {
    const std::lock_guard<std::mutex> lock(mutex_);
    request_ = request;
    complete_ = complete;
    return CUPTI_SUCCESS;
  }

  std::atomic<bool>& enabled(CUpti_ActivityKind kind) { return enabled_[static_cast<std::size_t>(kind)]; }
  void disable_all() {
    for (auto& kind : enabled_) kind = false;
  }
  bool kernels() const {
    return enabled_[CUPTI_ACTIVITY_KIND_KERNEL] || enabled_[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL];
  }

  void append(const Work& work);
  CUptiResult flush(bool forced);
  std::size_t take_dropped() { return dropped_.exchange(0); }

 private:
  std::uint8_t* place(std::size_t size);         // mutex_ held
  void fill(std::uint8_t* at, const Work& work);
  void hand_over_full();                         // mutex_ held
  void deliver(Buffer& buffer);                  // mutex_ not held
  void work();                                   // CUPTI's own thread

  std::mutex mutex_;  // held while asking for a buffer, as CUPTI's own lock is; not while giving one back
  std::condition_variable wake_, idle_;
  CUpti_BuffersCallbackRequestFunc request_ = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete_ = nullptr;
  std::array<std::atomic<bool>, CUPTI_ACTIVITY_KIND_COUNT> enabled_{};
  std::unique_ptr<Buffer> current_;
  std::deque<std::unique_ptr<Buffer>> full_, ready_;
  bool worker_started_ = false;
  int delivering_ = 0;
  std::atomic<std::size_t> dropped_{0};
};

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

void Activity::fill(std::uint8_t* at, const Work& work) {
  const std::uint32_t correlation =
      the_gpu().control().is("correlation", "same") ? work.correlation : the_gpu().next_correlation.fetch_add(1);
  const auto common = [&](auto* record) {
    record->deviceId = static_cast<std::uint32_t>(work.context->device);
    record->contextId = work.context->uid;
    record->streamId = work.stream_id;
    record->correlationId = correlation;
    record->graphNodeId = work.graph_node;
    record->graphId = work.graph;
  };
  if (work.kind == Work::Kind::copy) {
    auto* record = new (at) CopyRecord{};
    record->kind = CUPTI_ACTIVITY_KIND_MEMCPY;
    record->copyKind = work.copy == CopyKind::host_to_device   ? CUPTI_ACTIVITY_MEMCPY_KIND_HTOD
                       : work.copy == CopyKind::device_to_host ? CUPTI_ACTIVITY_MEMCPY_KIND_DTOH
                                                               : CUPTI_ACTIVITY_MEMCPY_KIND_DTOD;
    record->bytes = work.bytes;
    record->copyCount = 1;
    common(record);
  } else if (work.kind == Work::Kind::memset) {
    auto* record = new (at) MemsetRecord{};
    record->kind = CUPTI_ACTIVITY_KIND_MEMSET;
    record->bytes = work.bytes;
    common(record);
  } else {
    auto* record = new (at) KernelRecord{};
    record->kind = enabled(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) ? CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL
                                                                  : CUPTI_ACTIVITY_KIND_KERNEL;
    record->gridX = static_cast<std::int32_t>(work.grid.x);
    record->gridY = static_cast<std::int32_t>(work.grid.y);
    record->gridZ = static_cast<std::int32_t>(work.grid.z);
    record->blockX = static_cast<std::int32_t>(work.block.x);
    record->blockY = static_cast<std::int32_t>(work.block.y);
    record->blockZ = static_cast<std::int32_t>(work.block.z);
    record->clusterX = work.cluster.x;
    record->clusterY = work.cluster.y;
    record->clusterZ = work.cluster.z;
    record->dynamicSharedMemory = static_cast<std::int32_t>(work.dynamic_shared);
    record->name = work.function->name.c_str();
    record->launchType = static_cast<std::uint8_t>(work.cooperative ? CUPTI_ACTIVITY_LAUNCH_TYPE_COOPERATIVE_SINGLE_DEVICE
                                                                    : CUPTI_ACTIVITY_LAUNCH_TYPE_REGULAR);
    common(record);
  }
}

void Activity::append(const Work& work) {
  const bool wanted = work.kind == Work::Kind::kernel ? kernels()
                      : work.kind == Work::Kind::copy ? enabled(CUPTI_ACTIVITY_KIND_MEMCPY).load()
                                                      : enabled(CUPTI_ACTIVITY_KIND_MEMSET).load();
  if (!wanted) return;
  const std::size_t size = work.kind == Work::Kind::kernel ? sizeof(KernelRecord)
                           : work.kind == Work::Kind::copy ? sizeof(CopyRecord)
                                                           : sizeof(MemsetRecord);
  Control& control = the_gpu().control();
  const std::lock_guard<std::mutex> lock(mutex_);
  std::uint8_t* at = control.take_lost_record() ? nullptr : place(size);
  if (at == nullptr) {
    ++dropped_;
  } else {
    fill(at, work);
    const bool zero = control.take_zero_timestamp();
    current_->slots.push_back({at, zero ? 0 : work.start_ns, zero ? 0 : work.end_ns});
    current_->last_end = std::max(current_->last_end, work.end_ns);
  }
  hand_over_full();
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
    const std::lock_guard<std::mutex> lock(mutex_);
    complete = complete_;
  }
  const Callback callback(Inside::buffer);
  if (complete != nullptr) complete(nullptr, 0, buffer.data, buffer.size, buffer.valid);
}

void Activity::work() {
  std::unique_lock<std::mutex> lock(mutex_);
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
    std::unique_lock<std::mutex> lock(mutex_);
    if (complete_ == nullptr) return CUPTI_ERROR_INVALID_OPERATION;
    const std::uint64_t now = the_gpu().now();
    std::deque<std::unique_ptr<Buffer>> kept;
    while (!full_.empty()) {
      auto& to = forced || full_.front()->last_end <= now ? mine : kept;
      to.push_back(std::move(full_.front()));
      full_.pop_front();
    }
    full_ = std::move(kept);
    if (current_ != nullptr && (forced || current_->last_end <= now)) mine.push_back(std::move(current_));
    idle_.wait(lock, [&] { return ready_.empty() && delivering_ == 0; });
  }
  for (const auto& buffer : mine) deliver(*buffer);
  return CUPTI_SUCCESS;
}

bool is_kernel_kind(CUpti_ActivityKind kind) {
  return kind == CUPTI_ACTIVITY_KIND_KERNEL || kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
}

bool valid_kind(CUpti_ActivityKind kind) { return kind > CUPTI_ACTIVITY_KIND_INVALID && kind < CUPTI_ACTIVITY_KIND_COUNT; }

}  // namespace

void activity_submitted(const Work& work) { Activity::get().append(work); }
bool kernel_activity_enabled() { return Activity::get().kernels(); }

void engine_started() {
  if (the_gpu().control().is("engine_start", "resets_activity")) Activity::get().disable_all();
}

}  // namespace gable::playback

using namespace gable::playback;

extern "C" {

CUptiResult CUPTIAPI cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                                    CUpti_BuffersCallbackCompleteFunc complete) {
  GABLE_ENTER();
  if (request == nullptr || complete == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  return Activity::get().register_callbacks(request, complete);
}

CUptiResult CUPTIAPI cuptiActivityEnable(CUpti_ActivityKind kind) {
  GABLE_ENTER();
  if (!valid_kind(kind)) return CUPTI_ERROR_INVALID_KIND;
  if (is_kernel_kind(kind) && armed_profilers() > 0 &&
      the_gpu().control().is("activity_with_counters", "hang_reported")) {
    broken("cuptiActivityEnable of kernels was called while counters are armed (a reported hang)");
  }
  attach();
  Activity::get().enabled(kind) = true;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityDisable(CUpti_ActivityKind kind) {
  GABLE_ENTER();
  if (!valid_kind(kind)) return CUPTI_ERROR_INVALID_KIND;
  Activity::get().enabled(kind) = false;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityFlushAll(uint32_t flag) {
  GABLE_ENTER();
  if (inside() == Inside::resource) broken("cuptiActivityFlushAll was called inside a resource callback");
  if (inside() == Inside::buffer) {
    broken("cuptiActivityFlushAll was called inside a buffer callback");
    return CUPTI_ERROR_INVALID_OPERATION;  // the real one may wait for itself
  }
  check_capture("cuptiActivityFlushAll");
  if (armed_profilers() > 0 && the_gpu().control().is("activity_with_counters", "hang_reported")) {
    broken("cuptiActivityFlushAll was called while counters are armed");
  }
  return Activity::get().flush((flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) != 0);
}

CUptiResult CUPTIAPI cuptiActivityGetNextRecord(uint8_t* buffer, std::size_t valid, CUpti_Activity** record) {
  GABLE_ENTER();
  if (buffer == nullptr || record == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  auto* next = reinterpret_cast<std::uint8_t*>(*record);
  next = next == nullptr ? buffer : next + size_of(*record);
  if (next >= buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return size_of(*record) == 0 ? CUPTI_ERROR_INVALID_KIND : CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, std::size_t* dropped) {
  GABLE_ENTER();
  if (dropped == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *dropped = Activity::get().take_dropped();
  return CUPTI_SUCCESS;
}

}  // extern "C"

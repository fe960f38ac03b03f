// SPDX-License-Identifier: Apache-2.0
#include "collector/cupti/activity_stream.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <utility>

#include "collector/cupti/helpers.h"

namespace gable {
namespace {

std::atomic<ActivityStream*> g_stream{nullptr};
constexpr std::chrono::milliseconds kFlushPatience{2000};
constexpr std::size_t kKeepFree = 16;  // buffers kept for reuse

// Not from the program's heap, which would keep what many buffers at once took.
std::uint8_t* map_buffer() {
  void* memory = ::mmap(nullptr, ActivityStream::kBufferBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<std::uint8_t*>(memory);
}

void unmap_buffer(std::uint8_t* buffer) { ::munmap(buffer, ActivityStream::kBufferBytes); }

constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                         CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2,
                                         CUPTI_ACTIVITY_KIND_MEMSET};

CopyKind kind_of_copy(std::uint8_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA:
      return CopyKind::host_to_device;
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH:
      return CopyKind::device_to_host;
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOA:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOA:
      return CopyKind::device_to_device;
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
      return CopyKind::peer;
    default:
      return CopyKind::other;
  }
}

HostMemory host_memory(std::uint8_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE:
      return HostMemory::pageable;
    case CUPTI_ACTIVITY_MEMORY_KIND_PINNED:
      return HostMemory::pinned;
    case CUPTI_ACTIVITY_MEMORY_KIND_MANAGED:
    case CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC:
      return HostMemory::managed;
    default:
      return HostMemory::unknown;
  }
}

std::uint32_t size(std::int32_t value) {
  return value > 0 ? static_cast<std::uint32_t>(value) : 1u;
}

std::uint32_t shared_bytes(const CUpti_ActivityKernel9& kernel) {
  return static_cast<std::uint32_t>(std::max(kernel.staticSharedMemory, 0)) +
         static_cast<std::uint32_t>(std::max(kernel.dynamicSharedMemory, 0));
}

template <typename Record>
CopyRecord copy_record(const Record& r, CopyKind kind) {
  return {r.start,
          r.end,
          r.bytes,
          r.correlationId,
          static_cast<std::int32_t>(r.deviceId),
          kind,
          r.graphNodeId,
          false,
          0,
          HostMemory::unknown,
          false};
}

}  // namespace

// The fields we read stand at the same place in all of a kind's structure versions since CUPTI 12.
void ActivityStream::take(const CUpti_Activity* record, ActivityBatch& batch) {
  switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
    case CUPTI_ACTIVITY_KIND_KERNEL: {
      const auto* k = reinterpret_cast<const CUpti_ActivityKernel9*>(record);
      const KernelRecord kernel{k->start,
                                k->end,
                                k->correlationId,
                                static_cast<std::int32_t>(k->deviceId),
                                k->contextId,
                                k->streamId,
                                {k->registersPerThread, shared_bytes(*k)}};
      if (k->graphNodeId == 0) {
        batch.kernels.push_back(kernel);
        break;
      }
      GraphKernelRecord& node = batch.graph_kernels.emplace_back();
      node.record = kernel;
      node.node = k->graphNodeId;
      const auto function = function_of_node_ ? function_of_node_(node.node) : std::nullopt;
      node.key.function =
          function ? *function : functions_.intern(k->name != nullptr ? k->name : "(unnamed)");
      node.key.device = kernel.device;
      node.key.grid = {size(k->gridX), size(k->gridY), size(k->gridZ)};
      node.key.block = {size(k->blockX), size(k->blockY), size(k->blockZ)};
      if (k->clusterX > 0) node.key.cluster = {k->clusterX, k->clusterY, k->clusterZ};
      node.key.dynamic_shared = static_cast<std::uint32_t>(std::max(k->dynamicSharedMemory, 0));
      break;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
      const auto* m = reinterpret_cast<const CUpti_ActivityMemcpy5*>(record);
      auto& copy = batch.copies.emplace_back(copy_record(*m, kind_of_copy(m->copyKind)));
      if (copy.kind == CopyKind::host_to_device) copy.host = host_memory(m->srcKind);
      if (copy.kind == CopyKind::device_to_host) copy.host = host_memory(m->dstKind);
      copy.asynchronous = (m->flags & CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC) != 0;
      break;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY2: {
      const auto* m = reinterpret_cast<const CUpti_ActivityMemcpyPtoP4*>(record);
      batch.copies.push_back(copy_record(*m, CopyKind::peer));
      break;
    }
    case CUPTI_ACTIVITY_KIND_MEMSET: {
      const auto* m = reinterpret_cast<const CUpti_ActivityMemset4*>(record);
      batch.copies.push_back(copy_record(*m, CopyKind::memset));
      break;
    }
    default:
      break;
  }
}

ActivityStream::ActivityStream(const CuptiApi& api, FunctionTable& functions,
                               NodeFunction function_of_node)
    : api_(api), functions_(functions), function_of_node_(std::move(function_of_node)) {
  g_stream.store(this, std::memory_order_release);
}

std::string ActivityStream::enable(std::string& partly) {
  const auto outcome = std::make_shared<Enabled>();
  // Late, nobody counts on it any more.
  const auto answer = patiently(
      api_, &Helpers::calls,
      [this, outcome] {
        *outcome = switch_on();
        return CUPTI_SUCCESS;
      },
      [this] { undo_.run(); });
  if (!answer) return "Kernel times cannot be taken: CUPTI does not return.";
  partly = outcome->partly;
  if (!outcome->failed.empty()) return outcome->failed;
  lacks_copies_ = !partly.empty();
  enabled_ = true;
  paused_.store(false);
  return {};
}

ActivityStream::Enabled ActivityStream::switch_on() {
  Enabled outcome;
  if (!registered_) {
    const auto code = GABLE_CALL(api_, cuptiActivityRegisterCallbacks, requested, completed);
    if (code != CUPTI_SUCCESS) {
      outcome.failed = "Kernel times cannot be taken: cuptiActivityRegisterCallbacks says " +
                       describe(api_, code) + ".";
      return outcome;
    }
    registered_ = true;
  }
  for (const auto kind : kKinds) {
    const auto code = GABLE_CALL(api_, cuptiActivityEnable, kind);
    if (code == CUPTI_SUCCESS) {
      undo_.push([this, kind] {
        const auto failed = GABLE_CALL(api_, cuptiActivityDisable, kind);
        if (failed == CUPTI_SUCCESS) return;
        const MutexLock hold(mutex_);
        disable_code_ = failed;
      });
    } else if (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
      undo_.run();
      outcome.failed =
          "Kernel times cannot be taken: cuptiActivityEnable says " + describe(api_, code) + ".";
      return outcome;
    } else if (kind != CUPTI_ACTIVITY_KIND_MEMCPY2) {  // peer copies are not everywhere
      outcome.partly = "Copies are not recorded, or not all: cuptiActivityEnable says " +
                       describe(api_, code) + ".";
    }
  }
  return outcome;
}

void ActivityStream::disable() {
  if (!enabled_) return;
  enabled_ = false;
  (void)patiently(api_, &Helpers::calls, [this] {
    undo_.run();
    return CUPTI_SUCCESS;
  });
}

bool ActivityStream::pause() {
  if (paused_.exchange(true)) return true;
  disable();
  return wait_for_flush();
}

// A flush that began before holds on to what counters or a capture would break.
bool ActivityStream::wait_for_flush() {
  const auto patience = std::chrono::steady_clock::now() + kFlushPatience;
  while (flush_.load() == Flush::under_way && !stuck(api_)) {
    if (std::chrono::steady_clock::now() >= patience) {
      give_up_flush(kFlushPatience);
      break;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  return flush_.load() == Flush::none;
}

void ActivityStream::give_up_flush(std::chrono::milliseconds waited) {
  auto now = Flush::under_way;
  if (flush_.compare_exchange_strong(now, Flush::given_up) && api_.helpers != nullptr)
    api_.helpers->patience->give_up("cuptiActivityFlushAll", waited);
}

void ActivityStream::begin_capture() {
  ++captures_;
  (void)wait_for_flush();
}

// A call on a stream that captures nothing must not count below zero.
bool ActivityStream::end_capture() {
  int now = captures_.load();
  while (now > 0 && !captures_.compare_exchange_weak(now, now - 1)) {
  }
  return now <= 1 && left_out_.exchange(false);
}

void ActivityStream::flush(bool forced) {
  struct Flushing {
    ActivityStream& stream;
    explicit Flushing(ActivityStream& flushed) : stream(flushed) {
      stream.flush_.store(Flush::under_way);
    }
    ~Flushing() {
      const bool given_up = stream.flush_.exchange(Flush::none) == Flush::given_up;
      if (given_up && stream.api_.helpers != nullptr) stream.api_.helpers->patience->returned();
    }
  };
  const Flushing flushing(*this);
  if ((paused_.load() && !forced) || stuck(api_)) return;
  if (captures_.load() > 0) {
    left_out_.store(true);
    return;
  }
  const auto code =
      GABLE_CALL(api_, cuptiActivityFlushAll,
                 forced ? static_cast<std::uint32_t>(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) : 0u);
  if (code == CUPTI_SUCCESS) return;
  const MutexLock hold(mutex_);
  flush_code_ = code;
}

std::string ActivityStream::flush_problem() {
  CUptiResult code = CUPTI_SUCCESS;
  {
    const MutexLock hold(mutex_);
    code = flush_code_;
  }
  if (code == CUPTI_SUCCESS) return {};
  return "Records of kernels and copies are missing: cuptiActivityFlushAll says " +
         describe(api_, code) + ".";
}

std::string ActivityStream::disable_problem() {
  CUptiResult code = CUPTI_SUCCESS;
  {
    const MutexLock hold(mutex_);
    code = disable_code_;
  }
  if (code == CUPTI_SUCCESS) return {};
  return "Records go on after the last window, and may count as lost: cuptiActivityDisable says " +
         describe(api_, code) + ".";
}

void CUPTIAPI ActivityStream::requested(std::uint8_t** buffer, std::size_t* size,
                                        std::size_t* max_records) {
  *buffer = nullptr;
  *size = 0;
  *max_records = 0;
  if (auto* stream = g_stream.load(std::memory_order_acquire)) {
    const MutexLock hold(stream->mutex_);
    if (!stream->free_.empty()) {
      *buffer = stream->free_.back();
      stream->free_.pop_back();
    }
  }
  if (*buffer == nullptr) *buffer = map_buffer();
  if (*buffer != nullptr)
    *size = kBufferBytes;  // without memory CUPTI drops records and counts them
}

void CUPTIAPI ActivityStream::completed(CUcontext context, std::uint32_t stream_id,
                                        std::uint8_t* buffer, std::size_t, std::size_t valid) {
  auto* stream = g_stream.load(std::memory_order_acquire);
  if (stream == nullptr || buffer == nullptr) return;
  try {
    const MutexLock hold(stream->mutex_);
    stream->ready_.push_back({buffer, valid, context, stream_id});
  } catch (...) {
    // Out of memory: its records are lost, and missed as launches without a record.
    unmap_buffer(buffer);
  }
}

void ActivityBatch::add(ActivityBatch&& more) {
  const auto append = [](auto& to, auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  append(kernels, more.kernels);
  append(graph_kernels, more.graph_kernels);
  append(copies, more.copies);
  dropped += more.dropped;
  if (!more.problem.empty()) problem = std::move(more.problem);
}

ActivityBatch ActivityStream::read_buffers() {
  bool answered = true;
  bool some = false;
  {
    const MutexLock hold(mutex_);
    some = !ready_.empty();
  }
  if (some) {
    answered = patiently(api_, &Helpers::records, [this] {
                 auto batch = read_ready();
                 const MutexLock hold(mutex_);
                 read_.add(std::move(batch));
                 return CUPTI_SUCCESS;
               }).has_value();
  }
  const MutexLock hold(mutex_);
  auto batch = std::exchange(read_, {});
  batch.answered = answered;
  return batch;
}

ActivityBatch ActivityStream::read_ready() {
  ActivityBatch batch;
  std::vector<Buffer> ready;
  {
    const MutexLock hold(mutex_);
    ready.swap(ready_);
  }
  for (const auto& buffer : ready) {
    CUpti_Activity* record = nullptr;
    auto code = buffer.valid > 0 ? CUPTI_SUCCESS : CUPTI_ERROR_MAX_LIMIT_REACHED;
    while (code == CUPTI_SUCCESS) {
      code = GABLE_CALL(api_, cuptiActivityGetNextRecord, buffer.data, buffer.valid, &record);
      if (code == CUPTI_SUCCESS) take(record, batch);
    }
    if (code != CUPTI_ERROR_MAX_LIMIT_REACHED)
      batch.problem =
          "Records of kernels and copies are missing: cuptiActivityGetNextRecord says " +
          describe(api_, code) + ".";
    std::size_t dropped = 0;
    if (GABLE_CALL(api_, cuptiActivityGetNumDroppedRecords, buffer.context, buffer.stream,
                   &dropped) == CUPTI_SUCCESS) {
      batch.dropped += dropped;
    }
  }
  const MutexLock hold(mutex_);
  for (const auto& buffer : ready) {
    if (free_.size() < kKeepFree) {
      free_.push_back(buffer.data);
    } else {
      unmap_buffer(buffer.data);
    }
  }
  return batch;
}

}  // namespace gable

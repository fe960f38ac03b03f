// SPDX-License-Identifier: Apache-2.0
// Activity records: hands buffers to CUPTI, takes them back, and turns records into plain events.
// CUPTI calls us back for buffers, possibly under locks of its own: those callbacks only move a
// buffer; reading happens later in read_buffers().
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/base/mutex.h"
#include "analysis/events/events.h"
#include "analysis/events/function_table.h"
#include "collector/cupti/cupti_api.h"
#include "collector/process/undo.h"

namespace gable {

struct ActivityBatch {
  std::vector<KernelRecord> kernels;
  std::vector<GraphKernelRecord> graph_kernels;  // without layers
  std::vector<CopyRecord> copies;
  std::uint64_t dropped = 0;  // records that CUPTI had no room for
  std::string problem;        // a sentence, when they could not all be read
  bool answered = true;       // else CUPTI does not return; what it reads comes with a later batch
  void add(ActivityBatch&& more);
};

// One a process: CUPTI's buffer callbacks carry no user pointer.
class ActivityStream {
 public:
  static constexpr std::size_t kBufferBytes = std::size_t{1} << 20;

  // `functions` must outlive this: takes the names of kernels in graphs.
  // The function of a graph's node, where it is known without its record. A record's name lies in
  // the kernel's module and may be gone with it when the record is read.
  using NodeFunction = std::function<std::optional<FunctionId>(std::uint64_t node)>;
  ActivityStream(const CuptiApi& api, FunctionTable& functions, NodeFunction function_of_node = {});

  // Turns kernel, copy and memset records on. Empty, or a sentence saying what failed; `partly`
  // says what is missing where kernels alone are recorded.
  std::string enable(std::string& partly);
  void disable();
  // Off while counters are taken: unforced flushes are left out until it is enabled again.
  // False: a flush that began before has not ended.
  [[nodiscard]] bool pause();
  // No counters are taken any more: what was recorded before them may be asked for again.
  void resume() { paused_.store(false); }
  [[nodiscard]] bool enabled() const { return enabled_; }
  // Enabled, but not all copies are recorded: CUPTI refused a kind of them this time.
  [[nodiscard]] bool lacks_copies() const { return lacks_copies_; }

  // While a stream captures nothing is flushed. Around the calls of the program that begin and end
  // a capture; begin_capture waits for a flush that is under way, a bounded time.
  void begin_capture();
  // True when a flush was left out meanwhile: ask for one.
  [[nodiscard]] bool end_capture();
  [[nodiscard]] bool capturing() const { return captures_.load(std::memory_order_relaxed) > 0; }

  // Asks CUPTI for buffers. On one thread, and not from resource or buffer callbacks; may block as
  // long as CUPTI does.
  void flush(bool forced);
  // It has been waited for that long: nobody waits for it any more.
  void give_up_flush(std::chrono::milliseconds waited);
  // A sentence about the last flush that failed; empty when none did.
  [[nodiscard]] std::string flush_problem();

  // Reads the buffers that came back since the last call, with patience. Holds no lock while CUPTI
  // is called.
  ActivityBatch read_buffers();

 private:
  struct Buffer {
    std::uint8_t* data;
    std::size_t valid;
    CUcontext context;
    std::uint32_t stream;
  };
  static void CUPTIAPI requested(std::uint8_t** buffer, std::size_t* size,
                                 std::size_t* max_records);
  static void CUPTIAPI completed(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                                 std::size_t size, std::size_t valid);

  // On the helper's threads.
  struct Enabled {
    std::string failed, partly;
  };
  Enabled switch_on();
  ActivityBatch read_ready();
  void take(const CUpti_Activity* record, ActivityBatch& batch);

  const CuptiApi& api_;
  FunctionTable& functions_;
  const NodeFunction function_of_node_;
  bool registered_ = false;  // of the helper's thread, as undo_
  std::atomic<bool> enabled_{false}, lacks_copies_{false};
  Undo undo_;  // of the kinds that are on
  std::atomic<bool> paused_{false};
  bool wait_for_flush();

  enum class Flush : std::uint8_t { none, under_way, given_up };
  std::atomic<Flush> flush_{Flush::none};
  std::atomic<int> captures_{0};       // streams that are capturing
  std::atomic<bool> left_out_{false};  // a flush, for a capture
  // Guards what follows. Never held while calling CUPTI: a flush calls completed() under CUPTI's
  // own lock.
  Mutex mutex_;
  CUptiResult flush_code_ GABLE_GUARDED_BY(mutex_) = CUPTI_SUCCESS;
  std::vector<Buffer> ready_ GABLE_GUARDED_BY(mutex_);
  ActivityBatch read_ GABLE_GUARDED_BY(mutex_);  // and not taken yet
  std::vector<std::uint8_t*> free_ GABLE_GUARDED_BY(mutex_);
};

}  // namespace gable

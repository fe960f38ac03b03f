// SPDX-License-Identifier: Apache-2.0
// Activity records: hands buffers to CUPTI, takes them back, and turns records into plain events.
// CUPTI requests buffers through callbacks, possibly under its own locks: those only move a buffer,
// which read_buffers() reads later.
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
  std::vector<GraphKernelRecord> graph_kernels;  // graph kernels, not assigned to layers yet
  std::vector<CopyRecord> copies;
  std::uint64_t dropped = 0;  // records that CUPTI had no room for
  std::string problem;        // one sentence if some records could not be read
  bool answered = true;       // false: CUPTI has not returned; its records come with a later batch
  void add(ActivityBatch&& more);
};

// One per process, because CUPTI's buffer callbacks carry no user pointer.
class ActivityStream {
 public:
  static constexpr std::size_t kBufferBytes = std::size_t{1} << 20;

  // `functions` must outlive this: takes the names of kernels in graphs.
  // The function of a graph's node, where it is known without its record. A record's name lies in
  // the kernel's module and may be gone with it when the record is read.
  using NodeFunction = std::function<std::optional<FunctionId>(std::uint64_t node)>;
  ActivityStream(const CuptiApi& api, FunctionTable& functions, NodeFunction function_of_node = {});

  // Turns kernel, copy and memset records on. Returns an empty text or a sentence saying what
  // failed; `partly` says what is missing if only kernels are recorded.
  std::string enable(std::string& partly);
  void disable();
  // Turns records off while counters are taken, and has unforced flushes skipped until enable() or
  // resume(). Returns false if an earlier flush has not ended.
  [[nodiscard]] bool pause();
  // Allows flushes again when counters are no longer taken, for what was recorded before them;
  // turns no records on.
  void resume() { paused_.store(false); }
  [[nodiscard]] bool enabled() const { return enabled_; }
  // Whether CUPTI refused to record some kind of copy when records were last enabled.
  [[nodiscard]] bool lacks_copies() const { return lacks_copies_; }

  // Called around the program's calls that begin and end a capture, during which nothing is
  // flushed. begin_capture waits a bounded time for a running flush.
  void begin_capture();
  // Returns true if a flush was skipped meanwhile and must be requested.
  [[nodiscard]] bool end_capture();
  [[nodiscard]] bool capturing() const { return captures_.load(std::memory_order_relaxed) > 0; }

  // Asks CUPTI for buffers, on one thread and not in resource or buffer callbacks. May block as
  // long as CUPTI does.
  void flush(bool forced);
  // Gives up a flush after waiting for `waited`.
  void give_up_flush(std::chrono::milliseconds waited);
  // A sentence about the last flush that failed; empty when none did.
  [[nodiscard]] std::string flush_problem();
  [[nodiscard]] std::string disable_problem();  // empty if all that was on went off

  // Reads the buffers returned since the last call, for a bounded time. Holds no lock while calling
  // CUPTI.
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

  // The next three functions run on the helpers' threads; Enabled is what the first returns.
  struct Enabled {
    std::string failed, partly;
  };
  Enabled switch_on();
  ActivityBatch read_ready();
  void take(const CUpti_Activity* record, ActivityBatch& batch);

  const CuptiApi& api_;
  FunctionTable& functions_;
  const NodeFunction function_of_node_;
  bool registered_ = false;  // used by the helper's thread, like undo_
  std::atomic<bool> enabled_{false}, lacks_copies_{false};
  Undo undo_;  // turns the enabled kinds off
  std::atomic<bool> paused_{false};
  bool wait_for_flush();

  enum class Flush : std::uint8_t { none, under_way, given_up };
  std::atomic<Flush> flush_{Flush::none};
  std::atomic<int> captures_{0};       // streams that are capturing
  std::atomic<bool> left_out_{false};  // a flush was skipped because of a capture
  // Guards what follows. Never held while calling CUPTI: a flush calls completed() under CUPTI's
  // own lock.
  Mutex mutex_;
  CUptiResult flush_code_ GABLE_GUARDED_BY(mutex_) = CUPTI_SUCCESS;
  CUptiResult disable_code_ GABLE_GUARDED_BY(mutex_) = CUPTI_SUCCESS;
  std::vector<Buffer> ready_ GABLE_GUARDED_BY(mutex_);
  ActivityBatch read_ GABLE_GUARDED_BY(mutex_);  // read but not taken yet
  std::vector<std::uint8_t*> free_ GABLE_GUARDED_BY(mutex_);
};

}  // namespace gable

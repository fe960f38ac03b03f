// SPDX-License-Identifier: Apache-2.0
// What the Python side says of the model's operators and modules in the few steps in which it
// describes them. Safe on any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "analysis/base/mutex.h"
#include "analysis/events/layer_model.h"
#include "collector/layers/step_forecast.h"

namespace gable {

struct DescribedStep {
  std::uint32_t step = 0;
  bool incomplete = false;  // layers of the model launched kernels outside of what is described
  ModelDescription model;
};

class ModelTable {
 public:
  static constexpr std::uint32_t kMostSteps = 8;
  static constexpr std::size_t kMostOperators = 4096;
  static constexpr std::uint32_t kNotKeptApart = 0xffffffff;  // number of operators beyond these
  static constexpr std::size_t kMostKernels = 64;             // of an operator
  static constexpr std::size_t kMostPoints = 1 << 20;         // of memory

  // Returns whether to describe step `step`: at most kMostSteps, one at a time.
  [[nodiscard]] bool begin(std::uint32_t step);
  // Whether a step was or is described.
  [[nodiscard]] bool begun() const { return begun_.load(std::memory_order_relaxed) > 0; }
  // Whether another step may be described. Takes no lock.
  [[nodiscard]] bool wants_more() const {
    return begun_.load(std::memory_order_relaxed) < kMostSteps;
  }
  // A step has ended whose launches have the hash `sequence`. Returns whether the next one is worth
  // describing: none was described yet, or it is expected to have other launches than those were.
  [[nodiscard]] bool expects_new_step(std::uint64_t sequence);
  // Says that the model cannot be described. Returns true if no step was, so that nothing is known.
  [[nodiscard]] bool give_up();
  // Says that the step under way was not described, and that another one may be. `why`: a clause.
  void put_off(const std::string& why);
  // Why nothing is known, if every step so far was put off.
  [[nodiscard]] std::string why_put_off() const;
  // Whether launches outside of operators are to be told. Takes no lock.
  [[nodiscard]] bool counts_outside() const {
    return counts_outside_.load(std::memory_order_relaxed);
  }
  // The layer launches a kernel outside of operators: if it is one of the model's, its work is
  // unknown.
  void add_outside(std::int32_t device, LayerId layer);
  [[nodiscard]] bool under_way() const;
  // An operator begins in that layer. Returns a number for it.
  [[nodiscard]] std::uint32_t open_operator(LayerId layer, std::string_view name,
                                            std::string_view inputs, std::string_view place);
  // Adds a kernel that the operator with that number launches.
  void add_launch(std::uint32_t number, const LaunchKey& key);
  // Adds the work of an operator that ran in that layer; negative values are unknown. `number`: as
  // above.
  void add_operator(std::int32_t device, LayerId layer, std::uint32_t number, std::string_view type,
                    double flops, double read, double written);
  // Adds a module's facts; only the first call per layer counts.
  void add_module(LayerId layer, const ModuleFacts& facts);

  // Adds allocated bytes; calls for a layer add up.
  void add_allocated(LayerId layer, std::uint64_t bytes);

  // Adds how much memory is taken after the operator with that number, or before the first one.
  void add_memory(LayerId layer, std::uint32_t number, std::uint64_t bytes);
  // The step's end: most was taken at the `peak`th point from 0 on. What is negative is not known.
  void add_peak(std::int32_t device, bool by_allocator, std::size_t peak, double allocator_peak,
                double reserved);
  // After add_peak(): adds what was held then. `point`: where it was made or given.
  void add_held(HeldMemory held, std::optional<std::size_t> point);

  // What was described since begin(), if that was called. It counts only after kept().
  [[nodiscard]] std::optional<DescribedStep> end();
  // `sequence`: the hash of the described step's launches.
  void kept(std::uint64_t sequence);

 private:
  mutable Mutex mutex_;
  std::atomic<std::uint32_t> begun_{0};
  std::unordered_set<std::uint64_t> described_ GABLE_GUARDED_BY(mutex_);  // hashes of launches
  StepForecast forecast_ GABLE_GUARDED_BY(mutex_);
  std::optional<DescribedStep> open_ GABLE_GUARDED_BY(mutex_);
  std::unordered_map<std::string, std::uint32_t> numbers_ GABLE_GUARDED_BY(mutex_);
  StepMemory memory_ GABLE_GUARDED_BY(mutex_);  // until add_peak(); without it none is known
  std::unordered_map<std::string, std::uint32_t> names_ GABLE_GUARDED_BY(mutex_);  // of memory
  std::atomic<bool> counts_outside_{false};
  std::set<std::pair<std::int32_t, LayerId>> outside_ GABLE_GUARDED_BY(mutex_);
  std::string why_put_off_ GABLE_GUARDED_BY(mutex_);
};

// "float32[2,3,32,32];int64[2]"
[[nodiscard]] std::vector<TensorShape> shapes_of(std::string_view text);
// "float32;bfloat16"
[[nodiscard]] std::vector<std::string> words_of(std::string_view text, char separator = ';');

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// Which launches get counters: -k by kernel name, --include and --exclude by layer. All launches
// are timed. Used only in counter windows, on any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/base/mutex.h"
#include "analysis/base/pattern.h"
#include "analysis/events/events.h"
#include "analysis/events/function_table.h"
#include "analysis/events/layer_tree.h"

namespace gable {

class LaunchFilter {
 public:
  struct Patterns {
    std::vector<std::string> kernels, include, exclude;  // empty: no limit
  };
  // Patterns are valid, as the options' checks have seen to.
  LaunchFilter(const Patterns& patterns, const LayerTree& layers, const FunctionTable& functions);

  // Replaces the layer patterns by the program's own. Invalid patterns are left out; returns a
  // sentence for each.
  [[nodiscard]] std::vector<std::string> choose_layers(const std::vector<std::string>& include,
                                                       const std::vector<std::string>& exclude);

  [[nodiscard]] bool wanted(const LaunchKey& key);

  // One sentence for each layer pattern that no launch matched so far. Never blocks: a signal may
  // have stopped a thread that holds the lock.
  [[nodiscard]] std::vector<std::string> unmatched() const;

 private:
  struct LayerPattern {
    Pattern pattern;
    std::string text, option;
    bool matched = false;
  };
  enum class Answer : std::int8_t { unknown, no, yes };

  void note_limits() GABLE_REQUIRES(mutex_);
  [[nodiscard]] bool wanted_kernel(FunctionId function) const GABLE_REQUIRES(mutex_);
  bool wanted_layer(LayerId layer) GABLE_REQUIRES(mutex_);
  // Whether the layer matches; a pattern means a layer and all below it, by shown path, dotted name
  // or the layer's own name.
  [[nodiscard]] bool within(const Pattern& pattern, LayerId layer) const;
  bool any_within(std::vector<LayerPattern>& patterns, LayerId layer) const;

  const LayerTree& layers_;
  const FunctionTable& functions_;
  std::atomic<bool> limited_{false};  // there are patterns
  mutable Mutex mutex_;               // guards what follows
  std::vector<Pattern> kernels_ GABLE_GUARDED_BY(mutex_);
  std::vector<LayerPattern> include_ GABLE_GUARDED_BY(mutex_);
  std::vector<LayerPattern> exclude_ GABLE_GUARDED_BY(mutex_);
  std::vector<Answer> by_function_ GABLE_GUARDED_BY(mutex_);
  std::vector<Answer> by_layer_ GABLE_GUARDED_BY(mutex_);
};

}  // namespace gable

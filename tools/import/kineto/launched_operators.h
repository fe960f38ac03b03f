// SPDX-License-Identifier: Apache-2.0
// Which operators of a trace launch which kernels: rows for the report's operators.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/events/layer_model.h"
#include "analysis/profile/key_table.h"
#include "tools/import/kineto/trace_event.h"

namespace gable {

// The tensors among an operator's inputs, as far as the trace tells their sizes; at most 16.
[[nodiscard]] std::vector<TensorShape> input_shapes(const TraceEvent& event);

class LaunchedOperators {
 public:
  static constexpr std::uint32_t kNone = 0xffffffff;
  static constexpr std::size_t kMost = std::size_t{1} << 18;  // rows of all steps

  // A number for an operator and its inputs; equal ones have the same.
  [[nodiscard]] std::uint32_t intern(std::string_view name, std::vector<TensorShape> inputs);
  // A kernel was launched in the operator's range.
  void add(std::uint32_t range, const LaunchKey& key);

  // What an operator has to do by formula.
  struct Work {
    double flops = 0, bytes = 0;
    bool flops_known = false, bytes_known = false;
  };
  // Gives each step its rows. `facts_of(range)` is the range's operator with its step and work.
  struct Facts {
    std::uint32_t step = 0;
    std::uint32_t call = kNone;  // as intern() numbers it; kNone: in no step
    Work work;
  };
  template <typename FactsOf, typename ModelOf>
  void tell(FactsOf&& facts_of, ModelOf&& model_of) {
    sort();
    for (std::size_t i = 0; i < launches_.size();) {
      const std::uint32_t range = launches_[i].first;
      std::size_t end = i;
      while (end < launches_.size() && launches_[end].first == range) ++end;
      if (const Facts facts = facts_of(range); facts.call != kNone)
        add_call(facts, i, end, model_of(facts.step));
      i = end;
    }
  }

 private:
  struct Hash {
    std::size_t operator()(const LaunchKey& key) const { return hash_of(key); }
  };
  void sort();
  void add_call(const Facts& facts, std::size_t begin, std::size_t end, ModelDescription& model);

  struct Call {
    std::string name;
    std::vector<TensorShape> inputs;
  };
  std::vector<Call> calls_;
  std::unordered_map<std::string, std::uint32_t> known_calls_;
  std::vector<LaunchKey> keys_;
  std::unordered_map<LaunchKey, std::uint32_t, Hash> known_keys_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> launches_;  // range, place in keys_
  std::unordered_map<std::string, std::size_t> rows_;  // by step and what tells them apart
};

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// Operators of PyTorch in a trace: the layers that they name, what they have to do by formula, and
// which forward a backward belongs to.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "tools/import/kineto/backward_links.h"
#include "tools/import/kineto/launched_operators.h"
#include "tools/import/kineto/operator_work.h"
#include "tools/import/kineto/trace_event.h"
#include "tools/import/records/range_nest.h"

namespace gable {

class KinetoOperators {
 public:
  explicit KinetoOperators(RangeNest& nest) : nest_(nest) {}

  // The tag of the operator's range.
  std::uint32_t add(const TraceEvent& event);
  // The trace names modules: operators need not be told apart by their sizes.
  void see_module() { modules_ = true; }
  // Before the ranges are nested: where no module is named, matrix products, convolutions and
  // attention of different sizes are different layers.
  void name_layers();
  // After it: where neither modules nor sizes tell matrix products, convolutions and attention
  // apart, their order within the range around them does. True: nest the ranges again.
  bool number_layers();
  // Then: operators of backward get the layer of the forward whose sequence number they have, and
  // what backward computes again (checkpointing) those of the modules that it is of.
  void link_backward(LayerTree& layers);
  // A kernel of that step and GPU was launched within the range, and in none within that;
  // `replayed`: of a CUDA graph.
  void launched(std::uint32_t range, const ImportedKernel& kernel, bool replayed,
                const Imported& imported);
  // What the operators of each step have to do, by layer. `device`: of those that launched nothing.
  void describe(Imported& imported, std::int32_t device,
                const std::function<std::uint32_t(std::uint64_t)>& step_at, std::uint32_t steps);

 private:
  static constexpr std::uint32_t kNone = RangeNest::kNone;
  struct Facts {
    AutogradFacts autograd;
    std::int32_t device = 0;        // on which it launched first
    std::uint32_t result = kNone;   // of its formula
    std::uint32_t call = kNone;     // as launched_ numbers it
    bool may_multiply : 1 = false;  // it has no formula, and may be one that multiplies matrices
    bool ours : 1 = false;          // PyTorch's own
    bool aten : 1 = false;          // of these, an operator
    bool sparse : 1 = false;        // what it calls takes sizes for work
    bool other_work : 1 = false;    // it launched kernels of which nobody knows what they do
    bool launches : 1 = false;      // itself
    bool tensor_cores : 1 = false;  // by the name of a kernel that it launches
    bool replays : 1 = false;       // a graph of operators that are not in the trace
  };
  struct KernelFacts {    // by the kernel's name
    bool simple = false;  // it multiplies no matrices
    bool sparse = false, tensor_cores = false;
  };
  // Whose formula counts: that of the range, or those of ranges within it.
  enum class Choice : std::uint8_t { none, own, unknown, covered };
  std::uint32_t keep(OperatorResult result, std::uint32_t label);
  std::uint32_t call_of(const TraceEvent& event);
  KernelFacts kernel_facts(FunctionId function, const FunctionTable& functions);
  void finish_convolutions();
  [[nodiscard]] LaunchedOperators::Work work_of(std::uint32_t range, Choice choice) const;
  [[nodiscard]] std::vector<Choice> choose(std::int32_t device);
  [[nodiscard]] const OperatorResult* result_of(const RangeNest::Range& range) const;

  RangeNest& nest_;
  std::vector<Facts> facts_;
  std::vector<OperatorResult> results_;
  LaunchedOperators launched_;
  std::vector<std::uint32_t> labels_;  // of its calls: sizes, as a name; kNone: none
  std::unordered_map<std::uint32_t, std::uint32_t> same_;  // the last result, by label
  std::unordered_map<FunctionId, KernelFacts> kernels_;
  std::vector<bool> on_tensor_cores_;  // by range: it launched such kernels
  // Layers of a step and GPU whose kernels are of no operator, or of one around them; whether they
  // are known to multiply no matrices.
  std::map<std::tuple<std::uint32_t, std::int32_t, LayerId>, bool> others_;
  std::vector<std::int32_t> devices_;  // by range; empty: all ran on one
  std::int32_t last_device_ = 0;
  bool on_several_ = false;
  std::unordered_map<std::uint32_t, std::uint32_t> parts_;  // of which a range's work is so often
  bool modules_ = false, shapes_ = false;
  bool linked_ = false;  // it is known which operators launched GPU work
};

}  // namespace gable

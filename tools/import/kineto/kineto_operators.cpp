// SPDX-License-Identifier: Apache-2.0
#include "tools/import/kineto/kineto_operators.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "analysis/base/text.h"
#include "analysis/events/collective.h"
#include "analysis/roofline/work.h"
#include "tools/calls/step_ranges.h"

namespace gable {
namespace {

constexpr std::uint32_t kMostNumbers = 1000;  // of one operator within one range

// Operators whose layers are told apart by their sizes.
bool is_heavy(std::string_view name) {
  constexpr std::array<std::string_view, 8> kWords = {
      "conv", "mm", "linear", "matmul", "attention", "bilinear", "einsum", "Convolution"};
  return std::any_of(kWords.begin(), kWords.end(), [name](std::string_view word) {
    return name.find(word) != std::string_view::npos;
  });
}

// "[32, 3, 224, 224] [64, 3, 7, 7]"
std::string label_of(const TraceEvent& event) {
  std::string label;
  for (const auto& sizes : event.dims) {
    if (sizes.size() < 2) continue;
    label += label.empty() ? "[" : " [";
    for (std::size_t i = 0; i < sizes.size(); ++i)
      label += (i > 0 ? ", " : "") + std::to_string(sizes[i]);
    label += "]";
  }
  return label;
}

// Kernels that programs launch outside of operators, and that multiply no matrices.
bool is_simple(std::string_view name) {
  constexpr std::array<std::string_view, 7> kWords = {
      "triton_poi_",        "triton_red_",        "triton_per_",  "at::native::",
      "multi_tensor_apply", "elementwise_kernel", "reduce_kernel"};
  return is_collective(name) ||
         std::any_of(kWords.begin(), kWords.end(), [name](std::string_view word) {
           return name.find(word) != std::string_view::npos;
         });
}

// The work of a sparse product is that of its non-zeros, whose number is in no trace. By the name
// of an operator or of a kernel.
bool is_sparse(std::string_view name) {
  constexpr std::array<std::string_view, 6> kWords = {"sparse_mm", "sparse_addmm", "sampled_addmm",
                                                      "cusparse",  "csrmm",        "csrmv"};
  return std::any_of(kWords.begin(), kWords.end(), [name](std::string_view word) {
    return name.find(word) != std::string_view::npos;
  });
}

}  // namespace

std::uint32_t KinetoOperators::add(const TraceEvent& event) {
  const std::string_view name = event.name;
  Facts facts;
  facts.autograd = autograd_facts(event);
  facts.call = call_of(event);
  if (event.has_dims) {
    shapes_ = true;
    if (OperatorResult result = operator_work(event); result.counts || result.part)
      facts.result = keep(std::move(result), labels_[facts.call]);
  }
  facts.may_multiply = facts.result == kNone && may_multiply(name);
  facts.ours = is_of_pytorch(name);
  facts.aten = name.starts_with("aten::");
  facts.sparse = is_sparse(name);
  facts_.push_back(facts);
  return static_cast<std::uint32_t>(facts_.size() - 1);
}

std::uint32_t KinetoOperators::call_of(const TraceEvent& event) {
  const std::uint32_t call =
      launched_.intern(fitting_name(event.name, kLongestRangeName), input_shapes(event));
  if (call < labels_.size()) return call;
  labels_.push_back(kNone);
  if (!event.has_dims || !is_heavy(event.name)) return call;
  if (const std::string label = label_of(event); !label.empty())
    labels_.back() = nest_.name(event.name + " " + label);
  return call;
}

// Operators of the same sizes have the same result, mostly.
std::uint32_t KinetoOperators::keep(OperatorResult result, std::uint32_t label) {
  const auto known = same_.find(label);
  if (known != same_.end() && result.work) {
    const auto& work = results_[known->second].work;
    if (work && work->flops == result.work->flops && work->bytes == result.work->bytes &&
        work->type == result.work->type)
      return known->second;
  }
  const auto id = static_cast<std::uint32_t>(results_.size());
  if (result.work && label != kNone) same_[label] = id;
  results_.push_back(std::move(result));
  return id;
}

void KinetoOperators::name_layers() {
  if (modules_) return;
  for (RangeNest::Range& range : nest_.ranges()) {
    if (range.tag == kNone) continue;
    if (const std::uint32_t label = labels_[facts_[range.tag].call]; label != kNone)
      range.name = label;
  }
}

bool KinetoOperators::number_layers() {
  if (modules_ || shapes_) return false;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> count;  // by parent and name
  bool any = false;
  for (RangeNest::Range& range : nest_.ranges()) {
    if (range.tag == kNone || !range.is_layer || range.parent == kNone ||
        !is_heavy(nest_.text(range.name)))
      continue;
    const std::uint32_t number = ++count[{range.parent, range.name}];
    if (number > kMostNumbers) continue;
    range.name = nest_.name(nest_.text(range.name) + " #" + std::to_string(number));
    any = true;
  }
  return any;
}

void KinetoOperators::link_backward(LayerTree& layers) {
  BackwardLinks(nest_, layers, [this](std::uint32_t tag) -> const AutogradFacts& {
    return facts_[tag].autograd;
  }).link();
}

// Traces that do not tell strides and paddings: the gradient that a convolution's backward takes is
// as large as its output. Forward and backward have the same sequence number.
void KinetoOperators::finish_convolutions() {
  const bool open = std::any_of(results_.begin(), results_.end(), [](const OperatorResult& result) {
    return result.pending && !result.work;
  });
  if (!open) return;
  const auto& ranges = nest_.ranges();
  using Gradient = std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>;
  std::unordered_map<std::uint64_t, const Gradient*> gradients;
  // Of several operators the last makes the node: those before it have its number too.
  std::vector<std::pair<std::uint64_t, std::uint32_t>> numbers;  // with the outermost range
  std::vector<std::uint32_t> outermost(ranges.size(), kNone);
  std::vector<std::uint32_t> node(ranges.size(), kNone);      // of backward
  std::vector<std::uint32_t> numbered(ranges.size(), kNone);  // has the sequence number
  for (std::uint32_t i = 0; i < ranges.size(); ++i) {
    const RangeNest::Range& range = ranges[i];
    if (range.parent != kNone) {
      outermost[i] = outermost[range.parent];
      node[i] = node[range.parent];
      numbered[i] = numbered[range.parent];
    }
    if (range.tag == kNone) continue;
    if (outermost[i] == kNone) outermost[i] = i;
    const Facts& facts = facts_[range.tag];
    if (facts.autograd.has_sequence) numbered[i] = i;
    if (facts.autograd.backward && facts.autograd.has_sequence) node[i] = i;
    if (node[i] != kNone) {
      const OperatorResult* result = result_of(range);
      if (result != nullptr && result->gradient)
        gradients[facts_[ranges[node[i]].tag].autograd.sequence] = &*result->gradient;
    } else if (facts.autograd.has_sequence) {
      numbers.emplace_back(facts.autograd.sequence, outermost[i]);
    }
  }
  // Of those that start together the first stays.
  std::stable_sort(numbers.begin(), numbers.end(), [&](const auto& a, const auto& b) {
    return std::pair(a.first, ranges[b.second].start_ns) <
           std::pair(b.first, ranges[a.second].start_ns);
  });
  const auto last = [&](std::uint64_t sequence) {
    const auto found = std::lower_bound(
        numbers.begin(), numbers.end(), sequence,
        [](const auto& each, std::uint64_t wanted) { return each.first < wanted; });
    return found != numbers.end() && found->first == sequence ? found->second : 0u;
  };
  for (std::uint32_t i = 0; i < ranges.size(); ++i) {
    const OperatorResult* result = result_of(ranges[i]);
    if (result == nullptr || !result->pending || node[i] != kNone || numbered[i] == kNone) continue;
    const std::uint64_t sequence = facts_[ranges[numbered[i]].tag].autograd.sequence;
    const auto found = gradients.find(sequence);
    if (found == gradients.end() || last(sequence) != outermost[i] ||
        found->second->second != result->pending->weight)
      continue;
    results_[facts_[ranges[i].tag].result].work = finish(*result->pending, found->second->first);
  }
}

void KinetoOperators::launched(std::uint32_t range, const ImportedKernel& kernel, bool replayed,
                               const Imported& imported) {
  if (range == kNone) return;
  const auto& ranges = nest_.ranges();
  std::uint32_t at = range;
  while (at != kNone && ranges[at].tag == kNone) at = ranges[at].parent;
  const KernelFacts known = kernel_facts(kernel.function, imported.functions);
  if (at != kNone) {
    launched_.add(at, launch_key(imported, kernel));
    Facts& facts = facts_[ranges[at].tag];
    if (!facts.launches) facts.device = kernel.device;
    on_several_ = on_several_ || (linked_ && kernel.device != last_device_);
    last_device_ = kernel.device;
    facts.launches = linked_ = true;
    facts.replays = facts.replays || replayed;
    facts.tensor_cores = facts.tensor_cores || known.tensor_cores;
    facts.sparse = facts.sparse || known.sparse;
    facts.other_work = facts.other_work || !known.simple;
    if (at == range) return;
  } else if (ranges[range].neutral) {
    return;
  }
  // An annotation within an operator, as "nccl:broadcast" is: the operator tells the work.
  bool& all_known =
      others_.try_emplace({kernel.step, kernel.device, ranges[range].layer}, true).first->second;
  all_known = all_known && (at != kNone || (known.simple && !replayed));
}

KinetoOperators::KernelFacts KinetoOperators::kernel_facts(FunctionId function,
                                                           const FunctionTable& functions) {
  const auto [known, fresh] = kernels_.try_emplace(function);
  if (fresh) {
    const std::string name = functions.full_name(function);
    known->second = {is_simple(name), is_sparse(name), names_tensor_cores(name)};
  }
  return known->second;
}

const OperatorResult* KinetoOperators::result_of(const RangeNest::Range& range) const {
  if (range.tag == kNone || facts_[range.tag].result == kNone) return nullptr;
  return &results_[facts_[range.tag].result];
}

// An operator and those that it calls may both tell the work. Where they agree, those within count:
// they have the types in which it is done. Where they do not, the one around them knows all of it.
std::vector<KinetoOperators::Choice> KinetoOperators::choose(std::int32_t device) {
  const auto& ranges = nest_.ranges();
  std::vector<Choice> choices(ranges.size(), Choice::none);
  struct Inner {
    double flops = 0;
    std::uint32_t parts = 0;
    bool counts = false, known = true, launches = false, tensor_cores = false;
    std::int32_t device = 0;  // of the first that launched
  };
  std::vector<Inner> within(ranges.size());
  on_tensor_cores_.assign(ranges.size(), false);
  if (on_several_) devices_.assign(ranges.size(), device);
  // Those within others come behind them.
  for (std::size_t i = ranges.size(); i-- > 0;) {
    const RangeNest::Range& range = ranges[i];
    Inner sum = within[i];
    const OperatorResult* result = result_of(range);
    const bool part = result != nullptr && result->part;
    const bool launches = range.tag != kNone && facts_[range.tag].launches;
    if (launches && !sum.launches) sum.device = facts_[range.tag].device;
    sum.launches = sum.launches || launches;
    if (sum.launches && !devices_.empty()) devices_[i] = sum.device;
    sum.tensor_cores = sum.tensor_cores || (range.tag != kNone && facts_[range.tag].tensor_cores);
    if (sum.tensor_cores) on_tensor_cores_[i] = true;
    // By name it multiplies matrices, and nothing within it does.
    const bool replays = range.tag != kNone && facts_[range.tag].replays;
    const bool ours = range.tag != kNone && facts_[range.tag].ours;
    // What "aten::detach" calls is named without the prefix.
    const bool called_by_ours = range.parent != kNone && ranges[range.parent].tag != kNone &&
                                facts_[ranges[range.parent].tag].aten;
    const bool other =
        range.tag != kNone && !ours && !called_by_ours && facts_[range.tag].other_work;
    const bool sparse =
        range.tag != kNone && facts_[range.tag].sparse && (sum.launches || !linked_);
    const bool nameless =
        replays || sparse ||
        (result == nullptr &&
         (other || (range.tag != kNone && facts_[range.tag].may_multiply &&
                    (launches || !linked_ || (sum.launches && !sum.counts && ours)))));
    if (nameless) {
      choices[i] = Choice::unknown;
      sum.counts = true;
      sum.known = false;
    } else if (linked_ && !sum.launches) {
      // It did not run on the GPU: captured into a graph, traced by a compiler, or the CPU's.
      sum = {};
    } else if (result != nullptr && result->counts) {
      const double own = !result->work      ? -1
                         : result->by_parts ? (sum.parts > 0 ? result->work->flops * sum.parts : -1)
                                            : result->work->flops;
      const bool inner = sum.counts && sum.known &&
                         (own < 0 ? !launches : std::abs(own - sum.flops) <= 1e-9 * own);
      if (!inner) {
        choices[i] = own < 0 ? Choice::unknown : Choice::own;
        sum.flops = own < 0 ? sum.flops : own;
        sum.counts = true;
        sum.known = own >= 0;
      }
      sum.parts = 0;
    }
    if (range.parent == kNone) continue;
    Inner& around = within[range.parent];
    around.flops += sum.flops;
    around.parts += sum.parts + (part ? 1 : 0);
    around.counts = around.counts || sum.counts;
    around.known = around.known && sum.known;
    if (sum.launches) around.device = sum.device;
    around.launches = around.launches || sum.launches;
    around.tensor_cores = around.tensor_cores || sum.tensor_cores;
  }
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const std::uint32_t parent = ranges[i].parent;
    if (parent != kNone && (choices[parent] == Choice::own || choices[parent] == Choice::covered))
      choices[i] = Choice::covered;
    // Its work is that of each part within it.
    if (choices[i] != Choice::own || !result_of(ranges[i])->by_parts) continue;
    parts_[static_cast<std::uint32_t>(i)] = within[i].parts;
  }
  return choices;
}

// What one operator does by formula. Of what multiplies nothing that is 0 FLOP; bytes are known
// with a formula alone.
LaunchedOperators::Work KinetoOperators::work_of(std::uint32_t range, Choice choice) const {
  LaunchedOperators::Work work;
  const RangeNest::Range& of = nest_.ranges()[range];
  const OperatorResult* result = result_of(of);
  if (choice == Choice::unknown) return work;
  if (result == nullptr || !result->counts) {
    work.flops_known = choice != Choice::covered && !facts_[of.tag].may_multiply;
    return work;
  }
  if (!result->work || result->work->type.empty()) return work;
  const auto parts = parts_.find(range);
  work.flops = result->work->flops * (parts == parts_.end() ? 1 : parts->second);
  work.bytes = result->work->bytes.value_or(0);
  work.flops_known = true;
  work.bytes_known = result->work->bytes.has_value();
  return work;
}

void KinetoOperators::describe(Imported& imported, std::int32_t device,
                               const std::function<std::uint32_t(std::uint64_t)>& step_at,
                               std::uint32_t steps) {
  if (!shapes_) return;
  finish_convolutions();
  const auto& ranges = nest_.ranges();
  const std::vector<Choice> choices = choose(device);
  std::map<std::uint32_t, ModelDescription> models;
  for (std::uint32_t i = 0; i < ranges.size(); ++i) {
    const RangeNest::Range& range = ranges[i];
    if (range.tag == kNone) continue;
    const std::uint32_t step = step_at(range.start_ns);
    if (steps > 0 && step == 0) continue;
    const Choice choice = choices[i];
    const bool counts = choice == Choice::own || choice == Choice::unknown;
    if (range.within && !counts) continue;
    OperatorWork& work = models[step].work[{devices_.empty() ? device : devices_[i], range.layer}];
    if (!range.within) ++work.operators;
    if (!counts) continue;  // bytes are those of tensors that the trace does not name
    const OperatorResult* result = result_of(range);
    if (choice == Choice::unknown || result->work->type.empty()) {
      work.flops_known = work.bytes_known = false;
      continue;
    }
    const OperatorFormula& formula = *result->work;
    const auto parts = parts_.find(i);
    // Tensor cores round FP32 to TF32, and have another roof.
    const bool rounds = formula.type == "fp32" && on_tensor_cores_[i];
    work.flops[rounds ? "tf32" : formula.type] +=
        formula.flops * (parts == parts_.end() ? 1 : parts->second);
    work.bytes_known = work.bytes_known && formula.bytes.has_value();
    work.bytes_read += formula.bytes.value_or(0);
  }
  launched_.tell(
      [&](std::uint32_t range) {
        LaunchedOperators::Facts facts;
        const RangeNest::Range& of = ranges[range];
        facts.step = step_at(of.start_ns);
        if (steps > 0 && facts.step == 0) return facts;
        facts.call = facts_[of.tag].call;
        facts.work = work_of(range, choices[range]);
        return facts;
      },
      [&models](std::uint32_t step) -> ModelDescription& { return models[step]; });
  for (const auto& [where, known] : others_) {
    const auto& [step, ran_on, layer] = where;
    if (steps > 0 && step == 0) continue;
    OperatorWork& work = models[step].work[{ran_on, layer}];
    work.flops_known = work.flops_known && known;
    work.bytes_known = false;
  }
  // Where nothing heavy is in a layer its bytes are unknown, not 0.
  for (auto& [step, model] : models) {
    for (auto& [where, work] : model.work) {
      if (work.flops.empty()) work.bytes_known = false;
    }
    imported.models.emplace_back(step, std::move(model));
  }
}

}  // namespace gable

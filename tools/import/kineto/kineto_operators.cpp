// SPDX-License-Identifier: Apache-2.0
#include "tools/import/kineto/kineto_operators.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "analysis/events/collective.h"
#include "analysis/roofline/work.h"

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

// What autograd's engine runs is backward, also nodes that are not called so (AccumulateGrad,
// CppNode of a custom function).
bool is_backward(std::string_view name) {
  return name.find("Backward") != std::string_view::npos ||
         name.starts_with("autograd::engine::evaluate_function") ||
         name.starts_with("torch::autograd::");
}

// Operators that make tensors out of nothing have no sequence number in any case.
bool makes_tensor(std::string_view name) {
  constexpr std::array<std::string_view, 8> kNames = {
      "empty", "empty_strided", "zeros", "ones", "full", "arange", "eye", "scalar_tensor"};
  return name.starts_with("aten::") &&
         std::find(kNames.begin(), kNames.end(), name.substr(6)) != kNames.end();
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

}  // namespace

std::uint32_t KinetoOperators::add(const TraceEvent& event) {
  Facts facts;
  facts.has_sequence = event.sequence.has_value();
  facts.sequence = event.sequence.value_or(0);
  const std::string_view name = event.name;
  facts.backward = is_backward(name) || event.forward_thread != 0;
  if (event.has_dims) {
    shapes_ = true;
    if (is_heavy(name)) {
      if (const std::string label = label_of(event); !label.empty())
        facts.label = nest_.name(event.name + " " + label);
    }
    if (OperatorResult result = operator_work(event); result.counts || result.part)
      facts.result = keep(std::move(result), facts.label);
  }
  facts.may_multiply = facts.result == kNone && may_multiply(name);
  facts.ours = name.starts_with("aten::");
  facts.makes_tensor = makes_tensor(name);
  facts_.push_back(facts);
  return static_cast<std::uint32_t>(facts_.size() - 1);
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
    if (range.tag != kNone && facts_[range.tag].label != kNone)
      range.name = facts_[range.tag].label;
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

LayerId KinetoOperators::turned(LayerTree& layers, LayerId layer, Direction direction) {
  const auto known = turned_.find({layer, direction});
  if (known != turned_.end()) return known->second;
  const LayerTree::Node node = layers.node(layer);
  LayerId found = layer;
  if (layer != 0 && node.direction != Direction::none)
    found = layers.child(turned(layers, node.parent, direction), node.name, direction);
  turned_.emplace(std::pair(layer, direction), found);
  return found;
}

// Backward runs without recording what it does, so its own operators have no sequence numbers. It
// computes again what has modules around it, or records itself for another backward while an
// operator beside it does not. (Where all have numbers, a backward of the backward was asked for.)
std::vector<KinetoOperators::Within> KinetoOperators::find_recompute() const {
  const auto& ranges = nest_.ranges();
  std::vector<Within> within(ranges.size(), Within::none);
  std::vector<bool> records_nothing(ranges.size());  // of the backward at that place
  std::vector<std::uint32_t> node(ranges.size(), kNone);
  const auto facts = [&](std::uint32_t i) {
    return ranges[i].tag == kNone ? nullptr : &facts_[ranges[i].tag];
  };
  const auto is_backward = [&](std::uint32_t i) {
    return facts(i) != nullptr && facts(i)->backward;
  };
  for (std::uint32_t i = 0; i < ranges.size(); ++i) {
    const std::uint32_t parent = ranges[i].parent;
    node[i] = is_backward(i) ? i : parent == kNone ? kNone : node[parent];
    // Directly in it: what operators call has no numbers of its own either.
    if (parent != kNone && is_backward(parent) && facts(i) != nullptr && !facts(i)->backward &&
        !facts(i)->has_sequence && !facts(i)->makes_tensor)
      records_nothing[parent] = true;
  }
  for (std::uint32_t i = 0; i < ranges.size(); ++i) {
    const std::uint32_t parent = ranges[i].parent;
    if (is_backward(i)) {
      within[i] = Within::backward;
    } else if (parent == kNone || within[parent] == Within::none) {
      continue;
    } else if (within[parent] == Within::recompute) {
      within[i] = Within::recompute;
    } else {
      const bool module = ranges[i].tag == kNone && ranges[i].direction == Direction::forward;
      const bool recorded = facts(i) != nullptr && facts(i)->has_sequence &&
                            node[parent] != kNone && records_nothing[node[parent]];
      within[i] = module || recorded ? Within::recompute : Within::backward;
    }
  }
  return within;
}

void KinetoOperators::link_recompute(LayerTree& layers, const std::vector<Within>& within) {
  auto& ranges = nest_.ranges();
  std::unordered_map<std::uint32_t, LayerId> modules;  // forward, by name: each has one of its own
  std::unordered_map<std::uint64_t, LayerId> forward;  // by sequence number
  for (std::uint32_t i = 0; i < ranges.size(); ++i) {
    const RangeNest::Range& range = ranges[i];
    if (within[i] != Within::none) continue;
    if (range.tag == kNone && range.direction == Direction::forward)
      modules.try_emplace(range.name, range.layer);
    if (range.tag != kNone && facts_[range.tag].has_sequence)
      forward[facts_[range.tag].sequence] = range.layer;
  }
  std::vector<LayerId> around(ranges.size(), 0);  // of backward: the layer that its forward is in
  for (std::uint32_t i = 0; i < ranges.size(); ++i) {
    RangeNest::Range& range = ranges[i];
    const std::uint32_t parent = range.parent;
    if (within[i] == Within::backward) {
      const Facts* facts = range.tag == kNone ? nullptr : &facts_[range.tag];
      const auto found =
          facts != nullptr && facts->has_sequence ? forward.find(facts->sequence) : forward.end();
      if (found != forward.end()) {
        around[i] = layers.node(found->second).parent;
      } else if (parent != kNone) {
        around[i] = around[parent];
      }
      continue;
    }
    if (within[i] != Within::recompute) continue;
    const bool begins = within[parent] != Within::recompute;
    if (!begins && range.within && ranges[parent].tag != kNone) {  // of the operator around it
      range.layer = ranges[parent].layer;
      continue;
    }
    const auto module = range.tag == kNone ? modules.find(range.name) : modules.end();
    const LayerId above =
        turned(layers, begins ? around[parent] : ranges[parent].layer, Direction::recompute);
    range.layer = module != modules.end()
                      ? turned(layers, module->second, Direction::recompute)
                      : layers.child(above, nest_.text(range.name), Direction::recompute);
    range.is_layer = true;
    range.within = false;
  }
}

void KinetoOperators::link_backward(LayerTree& layers) {
  auto& ranges = nest_.ranges();
  const std::vector<Within> within = find_recompute();
  link_recompute(layers, within);
  std::unordered_map<std::uint64_t, std::pair<std::uint64_t, LayerId>> forward;  // start, layer
  for (const RangeNest::Range& range : ranges) {
    if (range.tag == kNone) continue;
    const Facts& facts = facts_[range.tag];
    if (!facts.has_sequence || facts.backward) continue;
    // Operators that make no node of autograd have the number of the next one that does. One that
    // makes several nodes (linear: of a transposition and of a product) does so within.
    auto& last = forward[facts.sequence];
    if (range.start_ns >= last.first) last = {range.start_ns, range.layer};
  }
  std::vector<bool> moved(ranges.size());
  std::vector<std::uint64_t> node(ranges.size());  // of those: the number of the innermost
  for (std::uint32_t i = 0; i < ranges.size(); ++i) {
    RangeNest::Range& range = ranges[i];
    if (within[i] == Within::recompute) continue;
    const bool inside = range.parent != kNone && moved[range.parent];
    if (range.tag != kNone && facts_[range.tag].backward && facts_[range.tag].has_sequence) {
      node[i] = facts_[range.tag].sequence;
    } else if (inside) {
      node[i] = node[range.parent];
    }
    // A backward within another one, of what that one computed again, is found by its own number.
    const bool again = inside && node[i] != node[range.parent];
    if (inside && !again) {
      range.layer = ranges[range.parent].layer;
      range.is_layer = false;
      moved[i] = true;
      continue;
    }
    if (range.tag == kNone || !(range.is_layer || again) || !facts_[range.tag].backward) continue;
    moved[i] = true;
    range.is_layer = true;
    range.within = false;
    const auto found =
        facts_[range.tag].has_sequence ? forward.find(facts_[range.tag].sequence) : forward.end();
    if (found != forward.end()) {
      range.layer = turned(layers, found->second.second, Direction::backward);
    } else {
      const LayerId around = range.parent == kNone ? 0 : ranges[range.parent].layer;
      range.layer = layers.child(around, nest_.text(range.name), Direction::backward);
    }
  }
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
  std::unordered_map<std::uint64_t, std::uint32_t> last;
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
    if (facts.has_sequence) numbered[i] = i;
    if (facts.backward && facts.has_sequence) node[i] = i;
    if (node[i] != kNone) {
      const OperatorResult* result = result_of(range);
      if (result != nullptr && result->gradient)
        gradients[facts_[ranges[node[i]].tag].sequence] = &*result->gradient;
    } else if (facts.has_sequence) {
      const auto [place, fresh] = last.try_emplace(facts.sequence, outermost[i]);
      if (!fresh && ranges[place->second].start_ns < ranges[outermost[i]].start_ns)
        place->second = outermost[i];
    }
  }
  for (std::uint32_t i = 0; i < ranges.size(); ++i) {
    const OperatorResult* result = result_of(ranges[i]);
    if (result == nullptr || !result->pending || node[i] != kNone || numbered[i] == kNone) continue;
    const std::uint64_t sequence = facts_[ranges[numbered[i]].tag].sequence;
    const auto found = gradients.find(sequence);
    if (found == gradients.end() || last[sequence] != outermost[i] ||
        found->second->second != result->pending->weight)
      continue;
    results_[facts_[ranges[i].tag].result].work = finish(*result->pending, found->second->first);
  }
}

void KinetoOperators::launched(std::uint32_t range, std::uint32_t step, FunctionId function,
                               bool replayed, const FunctionTable& functions) {
  if (range == kNone) return;
  const auto& ranges = nest_.ranges();
  std::uint32_t at = range;
  while (at != kNone && ranges[at].tag == kNone) at = ranges[at].parent;
  if (at != kNone) {
    Facts& facts = facts_[ranges[at].tag];
    facts.launches = linked_ = true;
    facts.replays = facts.replays || replayed;
    facts.tensor_cores = facts.tensor_cores || kernel_facts(function, functions).tensor_cores;
    // An annotation within an operator, as "nccl:broadcast" is: the operator tells the work.
    if (at != range) others_.try_emplace({step, ranges[range].layer}, true);
    return;
  }
  if (ranges[range].neutral) return;
  bool& all_known = others_.try_emplace({step, ranges[range].layer}, true).first->second;
  all_known = all_known && kernel_facts(function, functions).simple && !replayed;
}

KinetoOperators::KernelFacts KinetoOperators::kernel_facts(FunctionId function,
                                                           const FunctionTable& functions) {
  const auto [known, fresh] = kernels_.try_emplace(function);
  if (fresh) {
    const std::string name = functions.full_name(function);
    known->second = {is_simple(name), names_tensor_cores(name)};
  }
  return known->second;
}

const OperatorResult* KinetoOperators::result_of(const RangeNest::Range& range) const {
  if (range.tag == kNone || facts_[range.tag].result == kNone) return nullptr;
  return &results_[facts_[range.tag].result];
}

// An operator and those that it calls may both tell the work. Where they agree, those within count:
// they have the types in which it is done. Where they do not, the one around them knows all of it.
std::vector<KinetoOperators::Choice> KinetoOperators::choose() {
  const auto& ranges = nest_.ranges();
  std::vector<Choice> choices(ranges.size(), Choice::none);
  struct Inner {
    double flops = 0;
    std::uint32_t parts = 0;
    bool counts = false, known = true, launches = false, tensor_cores = false;
  };
  std::vector<Inner> within(ranges.size());
  // Those within others come behind them.
  for (std::size_t i = ranges.size(); i-- > 0;) {
    const RangeNest::Range& range = ranges[i];
    Inner sum = within[i];
    const OperatorResult* result = result_of(range);
    const bool part = result != nullptr && result->part;
    const bool launches = range.tag != kNone && facts_[range.tag].launches;
    sum.launches = sum.launches || launches;
    sum.tensor_cores = sum.tensor_cores || (range.tag != kNone && facts_[range.tag].tensor_cores);
    if (sum.tensor_cores) on_tensor_cores_.insert(static_cast<std::uint32_t>(i));
    // By name it multiplies matrices, and nothing within it does.
    const bool replays = range.tag != kNone && facts_[range.tag].replays;
    const bool nameless =
        replays ||
        (result == nullptr && range.tag != kNone && facts_[range.tag].may_multiply &&
         (launches || !linked_ || (sum.launches && !sum.counts && facts_[range.tag].ours)));
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

void KinetoOperators::describe(Imported& imported, std::int32_t device,
                               const std::function<std::uint32_t(std::uint64_t)>& step_at,
                               std::uint32_t steps) {
  if (!shapes_) return;
  finish_convolutions();
  const auto& ranges = nest_.ranges();
  const std::vector<Choice> choices = choose();
  std::map<std::uint32_t, ModelDescription> models;
  for (std::uint32_t i = 0; i < ranges.size(); ++i) {
    const RangeNest::Range& range = ranges[i];
    if (range.tag == kNone) continue;
    const std::uint32_t step = step_at(range.start_ns);
    if (steps > 0 && step == 0) continue;
    const Choice choice = choices[i];
    const bool counts = choice == Choice::own || choice == Choice::unknown;
    if (range.within && !counts) continue;
    OperatorWork& work = models[step].work[{device, range.layer}];
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
    const bool rounds = formula.type == "fp32" && on_tensor_cores_.contains(i);
    work.flops[rounds ? "tf32" : formula.type] +=
        formula.flops * (parts == parts_.end() ? 1 : parts->second);
    work.bytes_known = work.bytes_known && formula.bytes.has_value();
    work.bytes_read += formula.bytes.value_or(0);
  }
  for (const auto& [where, known] : others_) {
    if (steps > 0 && where.first == 0) continue;
    OperatorWork& work = models[where.first].work[{device, where.second}];
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

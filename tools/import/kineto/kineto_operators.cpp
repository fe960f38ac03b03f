// SPDX-License-Identifier: Apache-2.0
#include "tools/import/kineto/kineto_operators.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace gable {
namespace {

constexpr std::size_t kNextOperators = 64;  // among which a convolution's output is looked for

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

}  // namespace

std::uint32_t KinetoOperators::intern_sizes(const std::vector<std::int64_t>& sizes) {
  const auto [place, fresh] =
      sizes_.try_emplace(sizes, static_cast<std::uint32_t>(sizes_by_id_.size()));
  if (fresh) sizes_by_id_.push_back(&place->first);
  return place->second;
}

std::uint32_t KinetoOperators::add(const TraceEvent& event) {
  Facts facts;
  facts.has_sequence = event.sequence.has_value();
  facts.sequence = event.sequence.value_or(0);
  facts.backward = event.name.find("Backward") != std::string::npos || event.forward_thread != 0;
  // What PyTorch itself brings along and is no matrix product counts 0.
  const std::string_view name = event.name;
  facts.known = name.starts_with("aten::") || name.starts_with("torch::") ||
                name.find("Backward") != std::string_view::npos ||
                name.find("::") == std::string_view::npos;
  if (event.has_dims) {
    shapes_ = true;
    if (!event.dims.empty() && !event.dims.front().empty())
      facts.sizes = intern_sizes(event.dims.front());
    if (is_heavy(name)) {
      if (const std::string label = label_of(event); !label.empty())
        facts.label = nest_.name(event.name + " " + label);
    }
    if (OperatorResult result = operator_work(event); result.counts)
      facts.result = keep(std::move(result), facts.label);
  }
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

LayerId KinetoOperators::backward_of(LayerTree& layers, LayerId forward) {
  const auto known = backward_.find(forward);
  if (known != backward_.end()) return known->second;
  const LayerTree::Node node = layers.node(forward);
  LayerId layer = forward;
  if (forward != 0 && node.direction != Direction::none)
    layer = layers.child(backward_of(layers, node.parent), node.name, Direction::backward);
  backward_.emplace(forward, layer);
  return layer;
}

void KinetoOperators::link_backward(LayerTree& layers) {
  auto& ranges = nest_.ranges();
  std::unordered_map<std::uint64_t, std::pair<std::uint64_t, LayerId>> forward;  // start, layer
  for (const RangeNest::Range& range : ranges) {
    if (range.tag == kNone || !range.is_layer) continue;
    const Facts& facts = facts_[range.tag];
    if (!facts.has_sequence || facts.backward) continue;
    // Operators that make no node of autograd have the number of the next one that does.
    auto& last = forward[facts.sequence];
    if (range.start_ns >= last.first) last = {range.start_ns, range.layer};
  }
  std::vector<bool> moved(ranges.size());
  for (std::uint32_t i = 0; i < ranges.size(); ++i) {
    RangeNest::Range& range = ranges[i];
    if (range.parent != kNone && moved[range.parent]) {
      range.layer = ranges[range.parent].layer;
      range.is_layer = false;
      moved[i] = true;
      continue;
    }
    if (range.tag == kNone || !range.is_layer || !facts_[range.tag].backward) continue;
    moved[i] = true;
    const auto found =
        facts_[range.tag].has_sequence ? forward.find(facts_[range.tag].sequence) : forward.end();
    if (found != forward.end()) {
      range.layer = backward_of(layers, found->second.second);
    } else {
      const LayerId around = range.parent == kNone ? 0 : ranges[range.parent].layer;
      range.layer = layers.child(around, nest_.text(range.name), Direction::backward);
    }
  }
}

// A convolution's output is the first input of an operator behind it, where the trace does not tell
// its stride and padding.
void KinetoOperators::finish_convolutions() {
  const auto& ranges = nest_.ranges();
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i].tag == kNone || facts_[ranges[i].tag].result == kNone) continue;
    OperatorResult& result = results_[facts_[ranges[i].tag].result];
    if (!result.pending || result.work) continue;
    for (std::size_t next = i + 1; next < std::min(i + kNextOperators, ranges.size()); ++next) {
      const RangeNest::Range& behind = ranges[next];
      if (behind.thread != ranges[i].thread) break;
      // What runs within it has its inputs, which may be as large.
      if (behind.start_ns < ranges[i].end_ns || behind.tag == kNone) continue;
      const std::uint32_t sizes = facts_[behind.tag].sizes;
      if (sizes == kNone) continue;
      result.work = finish(*result.pending, *sizes_by_id_[sizes]);
      if (!result.work) continue;
      by_next_ = true;
      break;
    }
  }
}

void KinetoOperators::describe(Imported& imported, std::int32_t device,
                               const std::function<std::uint32_t(std::uint64_t)>& step_at,
                               std::uint32_t steps) {
  if (!shapes_) return;
  finish_convolutions();
  std::map<std::uint32_t, ModelDescription> models;
  for (const RangeNest::Range& range : nest_.ranges()) {
    if (range.tag == kNone) continue;
    const std::uint32_t step = step_at(range.start_ns);
    if (steps > 0 && step == 0) continue;
    const Facts& facts = facts_[range.tag];
    const bool outermost = !range.within;
    if (!outermost && facts.result == kNone) continue;
    OperatorWork& work = models[step].work[{device, range.layer}];
    if (facts.result == kNone) {
      // Its bytes are those of tensors that the trace does not name.
      ++work.operators;
      work.flops_known = work.flops_known && facts.known;
      continue;
    }
    const auto& formula = results_[facts.result].work;
    if (outermost) ++work.operators;
    if (!formula || formula->type.empty()) {
      work.flops_known = work.bytes_known = false;
      continue;
    }
    work.flops[formula->type] += formula->flops;
    work.bytes_known = work.bytes_known && formula->bytes.has_value();
    work.bytes_read += formula->bytes.value_or(0);
  }
  // Where nothing heavy is in a layer its bytes are unknown, not 0.
  for (auto& [step, model] : models) {
    for (auto& [where, work] : model.work) {
      if (work.flops.empty()) work.bytes_known = false;
    }
    imported.models.emplace_back(step, std::move(model));
  }
  if (by_next_) {
    imported.notes.emplace_back(
        "The trace does not tell strides and paddings: the outputs of convolutions are taken from "
        "the operators that read them, for FLOPs by formula.");
  }
}

}  // namespace gable

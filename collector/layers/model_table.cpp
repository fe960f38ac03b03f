// SPDX-License-Identifier: Apache-2.0
#include "collector/layers/model_table.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace gable {
namespace {

// Calls use(part) for each part between separators.
template <typename Use>
void split(std::string_view text, char separator, Use&& use) {
  while (!text.empty()) {
    const auto end = text.find(separator);
    use(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
}

}  // namespace

bool ModelTable::begin(std::uint32_t step) {
  const MutexLock hold(mutex_);
  if (open_ || !wants_more()) return false;
  ++begun_;
  open_.emplace().step = step;
  counts_outside_ = true;
  outside_.clear();
  numbers_.clear();
  memory_ = {};
  names_.clear();
  return true;
}

bool ModelTable::expects_new_step(std::uint64_t sequence) {
  const MutexLock hold(mutex_);
  forecast_.ended(sequence);
  if (described_.empty()) return true;
  const auto next = forecast_.next();
  return next && !described_.contains(*next);
}

bool ModelTable::give_up() {
  const MutexLock hold(mutex_);
  begun_ = kMostSteps;
  why_put_off_.clear();
  return described_.empty();
}

void ModelTable::put_off(const std::string& why) {
  const MutexLock hold(mutex_);
  open_.reset();
  counts_outside_ = false;
  why_put_off_ = why;
}

std::string ModelTable::why_put_off() const {
  const MutexLock hold(mutex_);
  return described_.empty() ? why_put_off_ : std::string();
}

void ModelTable::add_outside(std::int32_t device, LayerId layer) {
  const MutexLock hold(mutex_);
  if (open_) outside_.emplace(device, layer);
}

void ModelTable::kept(std::uint64_t sequence) {
  const MutexLock hold(mutex_);
  described_.insert(sequence);
}

bool ModelTable::under_way() const {
  const MutexLock hold(mutex_);
  return open_.has_value();
}

std::uint32_t ModelTable::open_operator(LayerId layer, std::string_view name,
                                        std::string_view inputs, std::string_view place) {
  constexpr char kBetween = '\0';
  std::string key = std::to_string(layer) + kBetween;
  for (const std::string_view part : {name, inputs, place}) (key += part) += kBetween;
  const MutexLock hold(mutex_);
  if (!open_) return 0;
  auto& operators = open_->model.operators;
  const auto known = numbers_.find(key);
  if (known != numbers_.end()) {
    ++operators[known->second - 1].calls;
    return known->second;
  }
  if (operators.size() >= kMostOperators) {
    ++open_->model.operators_left_out;
    return kNotKeptApart;
  }
  OperatorCalls& made = operators.emplace_back();
  made.layer = layer;
  made.name = name;
  made.inputs = shapes_of(inputs);
  made.place = place;
  made.calls = 1;
  const auto number = static_cast<std::uint32_t>(operators.size());
  numbers_.emplace(std::move(key), number);
  return number;
}

void ModelTable::add_launch(std::uint32_t number, const LaunchKey& key) {
  const MutexLock hold(mutex_);
  if (!open_ || number == 0 || number > open_->model.operators.size()) return;
  OperatorCalls& calls = open_->model.operators[number - 1];
  for (auto& [known, launches] : calls.launches) {
    if (known != key) continue;
    ++launches;
    return;
  }
  if (calls.launches.size() < kMostKernels)
    calls.launches.emplace_back(key, 1);
  else
    ++calls.left_out;
}

void ModelTable::add_operator(std::int32_t device, LayerId layer, std::uint32_t number,
                              std::string_view type, double flops, double read, double written) {
  const MutexLock hold(mutex_);
  if (!open_) return;
  if (number > 0 && number <= open_->model.operators.size()) {
    OperatorCalls& calls = open_->model.operators[number - 1];
    calls.flops_known = calls.flops_known && flops >= 0;
    calls.bytes_known = calls.bytes_known && read >= 0 && written >= 0;
    calls.flops += std::max(flops, 0.0);
    calls.bytes += std::max(read, 0.0) + std::max(written, 0.0);
  }
  OperatorWork& work = open_->model.work[{device, layer}];
  ++work.operators;
  if (!(flops >= 0)) work.flops_known = false;
  if (flops > 0) work.flops[std::string(type)] += flops;
  if (read >= 0 && written >= 0) {
    work.bytes_read += read;
    work.bytes_written += written;
  } else {
    work.bytes_known = false;
  }
}

void ModelTable::add_module(LayerId layer, const ModuleFacts& facts) {
  const MutexLock hold(mutex_);
  if (open_) open_->model.modules.try_emplace(layer, facts);
}

void ModelTable::add_allocated(LayerId layer, std::uint64_t bytes) {
  const MutexLock hold(mutex_);
  if (!open_) return;
  auto& allocated = open_->model.modules[layer].allocated;
  allocated = allocated.value_or(0) + bytes;
}

void ModelTable::add_memory(LayerId layer, std::uint32_t number, std::uint64_t bytes) {
  const MutexLock hold(mutex_);
  if (!open_ || memory_.points.size() >= kMostPoints) return;
  const auto& operators = open_->model.operators;
  const std::string name =
      number > 0 && number <= operators.size() ? operators[number - 1].name : std::string();
  const auto [known, fresh] =
      names_.emplace(name, static_cast<std::uint32_t>(memory_.names.size()));
  if (fresh) memory_.names.push_back(name);
  memory_.points.push_back({layer, known->second, bytes});
}

void ModelTable::add_peak(std::int32_t device, bool by_allocator, std::size_t peak,
                          double allocator_peak, double reserved) {
  const MutexLock hold(mutex_);
  if (!open_ || peak >= memory_.points.size()) return;  // it is after the last point that was kept
  StepMemory& memory = open_->model.memory.emplace(std::move(memory_));
  memory.device = device;
  memory.by_allocator = by_allocator;
  memory.peak = peak;
  if (allocator_peak >= 0) memory.allocator_peak = static_cast<std::uint64_t>(allocator_peak);
  if (reserved >= 0) memory.reserved = static_cast<std::uint64_t>(reserved);
}

void ModelTable::add_held(HeldMemory held, std::optional<std::size_t> point) {
  const MutexLock hold(mutex_);
  if (!open_ || !open_->model.memory) return;
  StepMemory& memory = *open_->model.memory;
  if (point && *point < memory.points.size()) held.layer = memory.points[*point].layer;
  memory.held.push_back(std::move(held));
}

std::optional<DescribedStep> ModelTable::end() {
  const MutexLock hold(mutex_);
  if (open_) {
    auto& model = open_->model;
    for (const auto& where : outside_) {
      if (!model.work.contains(where) && !model.modules.contains(where.second)) continue;
      OperatorWork& work = model.work[where];
      ++work.operators;  // or something like one
      work.flops_known = work.bytes_known = false;
      open_->incomplete = true;
    }
  }
  counts_outside_ = false;
  return std::exchange(open_, std::nullopt);
}

std::vector<TensorShape> shapes_of(std::string_view text) {
  std::vector<TensorShape> shapes;
  split(text, ';', [&shapes](std::string_view one) {
    const auto open = one.find('[');
    if (open == std::string_view::npos || !one.ends_with(']')) return;
    TensorShape& shape = shapes.emplace_back();
    shape.dtype = one.substr(0, open);
    split(one.substr(open + 1, one.size() - open - 2), ',', [&shape](std::string_view size) {
      std::int64_t value = 0;
      std::from_chars(size.data(), size.data() + size.size(), value);
      shape.sizes.push_back(value);
    });
  });
  return shapes;
}

std::vector<std::string> words_of(std::string_view text, char separator) {
  std::vector<std::string> words;
  split(text, separator, [&words](std::string_view word) { words.emplace_back(word); });
  return words;
}

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
#include "collector/layers/model_table.h"

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
  return true;
}

bool ModelTable::give_up() {
  const MutexLock hold(mutex_);
  begun_ = kMostSteps;
  return !known_;
}

void ModelTable::kept() {
  const MutexLock hold(mutex_);
  known_ = true;
}

bool ModelTable::under_way() const {
  const MutexLock hold(mutex_);
  return open_.has_value();
}

void ModelTable::add_operator(std::int32_t device, LayerId layer, std::string_view type,
                              double flops, double read, double written) {
  const MutexLock hold(mutex_);
  if (!open_) return;
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

std::optional<DescribedStep> ModelTable::end() {
  const MutexLock hold(mutex_);
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

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  split(text, ';', [&words](std::string_view word) { words.emplace_back(word); });
  return words;
}

}  // namespace gable

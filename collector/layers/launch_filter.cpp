// SPDX-License-Identifier: Apache-2.0
#include "collector/layers/launch_filter.h"

#include <algorithm>
#include <utility>

namespace gable {

LaunchFilter::LaunchFilter(const Patterns& patterns, const LayerTree& layers,
                           const FunctionTable& functions)
    : layers_(layers), functions_(functions) {
  for (const auto& text : patterns.kernels) kernels_.push_back(Pattern::parse(text).pattern);
  for (const auto& text : patterns.include)
    include_.push_back({Pattern::parse(text).pattern, text, "--include"});
  for (const auto& text : patterns.exclude)
    exclude_.push_back({Pattern::parse(text).pattern, text, "--exclude"});
  const MutexLock hold(mutex_);
  note_limits();
}

std::vector<std::string> LaunchFilter::choose_layers(const std::vector<std::string>& include,
                                                     const std::vector<std::string>& exclude) {
  std::vector<std::string> sentences;
  const auto parsed = [&sentences](const std::vector<std::string>& texts, const char* option) {
    std::vector<LayerPattern> patterns;
    for (const auto& text : texts) {
      auto result = Pattern::parse(text);
      if (result.error.empty()) {
        patterns.push_back({std::move(result.pattern), text, option});
      } else {
        sentences.push_back("gable.profile's " + std::string(option) + " '" + text +
                            "' is left out: " + result.error);
      }
    }
    return patterns;
  };
  auto included = parsed(include, "include"), excluded = parsed(exclude, "exclude");
  const MutexLock hold(mutex_);
  include_ = std::move(included);
  exclude_ = std::move(excluded);
  by_layer_.clear();
  note_limits();
  return sentences;
}

void LaunchFilter::note_limits() {
  limited_.store(!kernels_.empty() || !include_.empty() || !exclude_.empty());
}

bool LaunchFilter::wanted(const LaunchKey& key) {
  if (!limited_.load(std::memory_order_relaxed)) return true;
  const MutexLock hold(mutex_);
  const auto place = [](std::vector<Answer>& answers, std::size_t id) -> Answer& {
    if (id >= answers.size()) answers.resize(id + 64, Answer::unknown);
    return answers[id];
  };
  // Both are asked, so that a pattern of layers does not pass for unmatched because of -k.
  Answer& layer = place(by_layer_, key.layer);
  if (layer == Answer::unknown) layer = wanted_layer(key.layer) ? Answer::yes : Answer::no;
  Answer& kernel = place(by_function_, key.function);
  if (kernel == Answer::unknown) kernel = wanted_kernel(key.function) ? Answer::yes : Answer::no;
  return layer == Answer::yes && kernel == Answer::yes;
}

bool LaunchFilter::wanted_kernel(FunctionId function) const {
  if (kernels_.empty()) return true;
  const auto name = functions_.name(function);
  return std::any_of(kernels_.begin(), kernels_.end(),
                     [&](const Pattern& pattern) { return pattern.matches(name); });
}

bool LaunchFilter::wanted_layer(LayerId layer) {
  const bool included = include_.empty() || any_within(include_, layer);
  return !any_within(exclude_, layer) && included;
}

bool LaunchFilter::any_within(std::vector<LayerPattern>& patterns, LayerId layer) const {
  bool any = false;
  for (auto& known : patterns) {
    if (!within(known.pattern, layer)) continue;
    known.matched = any = true;
  }
  return any;
}

bool LaunchFilter::within(const Pattern& pattern, LayerId layer) const {
  for (auto id = layer; id != 0;) {
    const auto node = layers_.node(id);
    if (pattern.matches(layers_.shown(id)) || pattern.matches(node.name)) return true;
    const auto dotted = layers_.dotted(id);
    if (!dotted.empty() && pattern.matches(dotted)) return true;
    id = node.parent;
  }
  return false;
}

std::vector<std::string> LaunchFilter::unmatched() const {
  std::vector<std::string> sentences;
  const TryLock hold(mutex_);
  if (!hold.held()) return sentences;
  mutex_.assert_held();
  for (const auto* patterns : {&include_, &exclude_}) {
    for (const auto& known : *patterns) {
      if (known.matched || by_layer_.empty()) continue;  // empty: there were no counter windows
      sentences.push_back(known.option + " '" + known.text +
                          "' matches no layer that launched kernels; patterns are compared with "
                          "paths such as ResNet/layer1/0, PyTorch's names such as layer1.0, and "
                          "the last part of either.");
    }
  }
  return sentences;
}

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
#include "collector/layers/range_tracker.h"

#include <algorithm>

#include "collector/layers/xla_ranges.h"
#include "collector/process/hash.h"

namespace gable {
namespace {

constexpr std::size_t kMaxDomains = 1024;
// Open at once; leaked ones must not grow without bound.
constexpr std::size_t kMaxProcessRanges = 256;

}  // namespace

RangeTracker::RangeTracker(LayerTree& layers, RangeNaming naming, std::vector<std::string> domains)
    : layers_(layers), naming_(std::move(naming)), domains_(std::move(domains)) {
  if (domains_.size() < 2) domains_ = {"", "gable"};
  const auto xla = std::find(domains_.begin(), domains_.end(), kXlaDomain);
  if (xla != domains_.end()) xla_domain_ = static_cast<DomainId>(xla - domains_.begin());
}

std::vector<std::string> RangeTracker::domains_after_fork() const {
  const TryLock hold(domain_mutex_);
  if (!hold.held()) return {};
  domain_mutex_.assert_held();
  return domains_;
}

DomainId RangeTracker::domain(std::string_view name) {
  const MutexLock hold(domain_mutex_);
  const auto found = std::find(domains_.begin(), domains_.end(), name);
  if (found != domains_.end()) return static_cast<DomainId>(found - domains_.begin());
  if (domains_.size() >= kMaxDomains) return 0;
  domains_.emplace_back(name);
  const auto made = static_cast<DomainId>(domains_.size() - 1);
  if (name == kXlaDomain) xla_domain_ = made;
  return made;
}

std::string RangeTracker::domain_name(DomainId id) const {
  const MutexLock hold(domain_mutex_);
  return id < domains_.size() ? domains_[id] : std::string();
}

LayerId RangeTracker::make_child(LayerId parent, DomainId domain, const std::string& text,
                                 Direction direction) {
  if (domain == 0 || domain == kOwnDomain) return layers_.child(parent, text, direction);
  if (is_xla(domain)) {
    const XlaRange range = xla_range(text);
    for (const std::string& each : range.names)
      parent = layers_.child(parent, each, range.direction);
    return parent;
  }
  const std::string name = domain_name(domain);
  if (name.empty()) return layers_.child(parent, text, direction);
  return layers_.child(parent, name + ":" + text, direction);
}

ThreadRanges::Known& RangeTracker::find(ThreadRanges& thread, LayerId parent, DomainId domain,
                                        std::string_view cut, Direction direction) {
  const std::uint64_t seed = (std::uint64_t{parent} << 32) ^ (std::uint64_t{domain} << 8) ^
                             static_cast<std::uint64_t>(direction);
  const std::uint64_t hash = hash_bytes(cut.data(), cut.size(), seed);
  if (!thread.known.empty()) {
    auto* group = &thread.known[hash & (thread.known.size() - ThreadRanges::kWays)];
    for (std::size_t i = 0; i < ThreadRanges::kWays; ++i) {
      if (group[i].hash == hash && group[i].used && group[i].parent == parent &&
          group[i].length == cut.size())
        return group[i];
    }
  }
  const auto name = naming_.name(cut);
  const LayerId layer = make_child(parent, domain, name.text, direction);
  if (domain > kOwnDomain) look_for_communicator(domain, cut);
  auto& slot = place(thread, hash);
  // A domain's range may stand for several layers, or for none below a full tree.
  const auto levels = is_xla(domain) ? static_cast<std::uint32_t>(layers_.node(layer).depth) -
                                           static_cast<std::uint32_t>(layers_.node(parent).depth)
                                     : 1u;
  slot = {hash, parent, layer, static_cast<std::uint32_t>(cut.size()), levels, name.is_step, true};
  return slot;
}

void RangeTracker::look_for_communicator(DomainId domain, std::string_view name) {
  const auto which = made_in(domain_name(domain), name);
  if (which == Communicator::none) return;
  communicator_.store(which);
  if (auto* listener = listener_.load(std::memory_order_acquire))
    listener->communicator_made(which);
}

// A free slot in the group of `hash`, in a larger table where need be; else the one to give up.
ThreadRanges::Known& RangeTracker::place(ThreadRanges& thread, std::uint64_t hash) {
  if (thread.known.empty()) thread.known.resize(ThreadRanges::kFirstKnown);
  for (;;) {
    auto* group = &thread.known[hash & (thread.known.size() - ThreadRanges::kWays)];
    for (std::size_t i = 0; i < ThreadRanges::kWays; ++i) {
      if (!group[i].used) return group[i];
    }
    if (thread.known.size() >= ThreadRanges::kMostKnown)
      return group[(hash >> 48) % ThreadRanges::kWays];
    auto names = std::move(thread.known);
    thread.known = std::vector<ThreadRanges::Known>(names.size() * 2);
    for (const auto& name : names) {
      if (name.used) place(thread, name.hash) = name;
    }
  }
}

int RangeTracker::push(ThreadRanges& thread, DomainId domain, std::string_view name,
                       Direction direction, WindowId window, std::uint64_t now_ticks) {
  catch_up(thread);
  const auto cut = RangeNaming::cut_sequence_numbers(name, thread.buffer);
  const auto& known = find(thread, thread.current, domain, cut, direction);
  return push_layer(thread, domain,
                    {known.layer, domain, window, known.is_step, now_ticks, known.levels});
}

int RangeTracker::push_layer(ThreadRanges& thread, DomainId domain,
                             const ThreadRanges::Open& range) {
  if (thread.depth.size() <= domain) thread.depth.resize(domain + 1);
  const int depth = static_cast<int>(thread.depth[domain]++);
  thread.open.push_back(range);
  thread.current = range.layer;
  publish(thread);
  std::uint32_t level = 0;
  if (is_looked_at(thread.open.size() - 1, domain, level)) {
    if (auto* listener = listener_.load(std::memory_order_acquire))
      listener->range_begins(level, range.layer, &thread);
  }
  if (range.is_step) {
    if (auto* listener = listener_.load(std::memory_order_acquire)) listener->step_range_begin();
  }
  return depth;
}

RangeTracker::Popped RangeTracker::pop(ThreadRanges& thread, DomainId domain) {
  Popped popped;
  if (thread.epoch != epoch_.load(std::memory_order_relaxed)) rebase(thread);
  std::size_t at = thread.open.size();
  while (at > 0 && thread.open[at - 1].domain != domain) --at;
  if (at == 0) return popped;  // unbalanced: nothing of that domain is open here
  popped.range = thread.open[at - 1];
  popped.depth = static_cast<int>(--thread.depth[domain]);
  const bool innermost = at == thread.open.size();
  thread.open.erase(thread.open.begin() + static_cast<std::ptrdiff_t>(at - 1));
  if (!innermost) {
    rebase(thread);  // ranges of other domains inside it move up one level
  } else {
    thread.current = thread.open.empty() ? base_layer_.load(std::memory_order_acquire)
                                         : thread.open.back().layer;
  }
  publish(thread);
  std::uint32_t level = 0;
  if (is_looked_at(at - 1, domain, level)) {
    if (auto* listener = listener_.load(std::memory_order_acquire))
      listener->range_ends(level, &thread);
  }
  if (popped.range.is_step) {
    if (auto* listener = listener_.load(std::memory_order_acquire)) listener->step_range_end();
  }
  return popped;
}

// The layer below `parent` that has the last `levels` names of `old`.
LayerId RangeTracker::moved(LayerId parent, LayerId old, std::uint32_t levels) {
  const auto node = layers_.node(old);
  if (levels > 1) parent = moved(parent, node.parent, levels - 1);
  const auto layer = layers_.child(parent, node.name, node.direction);
  layers_.set_dotted(layer, layers_.dotted(old));
  return layer;
}

void RangeTracker::rebase(ThreadRanges& thread) {
  LayerId layer = 0;
  {
    const MutexLock hold(base_mutex_);
    thread.base_version = base_version_.load(std::memory_order_relaxed);
    layer = base_layer_.load(std::memory_order_relaxed);
  }
  if (const auto epoch = epoch_.load(std::memory_order_relaxed); thread.epoch != epoch) {
    thread.epoch = epoch;
    thread.open.clear();
    thread.collectives.forget();
    std::fill(thread.depth.begin(), thread.depth.end(), 0);
  }
  LayerId before = 0;
  for (auto& range : thread.open) {
    const LayerId old = range.layer;
    // The same as its parent's: it is no layer of its own, or was too deep for one.
    if (old != before) layer = moved(layer, old, range.levels);
    before = old;
    range.layer = layer;
  }
  thread.current = layer;
  publish(thread);
}

void RangeTracker::rebuild_base() {
  LayerId layer = 0;
  for (auto& range : process_) {
    layer = make_child(layer, range.domain, range.name, range.direction);
    range.layer = layer;
  }
  process_open_.store(static_cast<std::uint32_t>(process_.size()), std::memory_order_relaxed);
  base_layer_.store(layer, std::memory_order_release);
  base_version_.fetch_add(1, std::memory_order_release);
}

void RangeTracker::forget_open() {
  const MutexLock hold(base_mutex_);
  process_.clear();
  epoch_.fetch_add(1, std::memory_order_relaxed);
  main_layer_.store(0, std::memory_order_relaxed);
  rebuild_base();
}

std::uint64_t RangeTracker::start(DomainId domain, std::string_view raw, Direction direction) {
  std::string buffer;
  const auto name = naming_.name(RangeNaming::cut_sequence_numbers(raw, buffer));
  std::uint64_t id = 0;
  std::uint32_t level = 0;
  LayerId layer = 0;
  {
    const MutexLock hold(base_mutex_);
    id = next_id_++;
    level = static_cast<std::uint32_t>(process_.size());
    if (process_.size() >= kMaxProcessRanges) return id;  // its end finds nothing and does nothing
    process_.push_back({id, domain, name.text, direction, name.is_step, 0});
    rebuild_base();
    layer = process_.back().layer;
  }
  auto* listener = listener_.load(std::memory_order_acquire);
  const bool looked = level < looked_at_.load(std::memory_order_relaxed) && domain != kOwnDomain;
  if (looked && listener != nullptr) listener->range_begins(level, layer, nullptr);
  if (name.is_step && listener != nullptr) listener->step_range_begin();
  return id;
}

void RangeTracker::end(std::uint64_t id) {
  bool is_step = false, looked = false;
  std::uint32_t level = 0;
  {
    const MutexLock hold(base_mutex_);
    const auto found = std::find_if(process_.begin(), process_.end(),
                                    [&](const ProcessRange& r) { return r.id == id; });
    if (found == process_.end()) return;
    is_step = found->is_step;
    level = static_cast<std::uint32_t>(found - process_.begin());
    looked = level < looked_at_.load(std::memory_order_relaxed) && found->domain != kOwnDomain;
    process_.erase(found);
    rebuild_base();
  }
  auto* listener = listener_.load(std::memory_order_acquire);
  if (looked && listener != nullptr) listener->range_ends(level, nullptr);
  if (is_step && listener != nullptr) listener->step_range_end();
}

}  // namespace gable

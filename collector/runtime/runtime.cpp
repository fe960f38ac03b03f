// SPDX-License-Identifier: Apache-2.0
#include "collector/runtime/runtime.h"

#include <cstdlib>

#include "collector/options/request_socket.h"
#include "collector/process/clock.h"

namespace gable {
namespace {

std::atomic<Runtime*> g_runtime{nullptr};
const RangeTracker* g_ranges_before_fork = nullptr;

Settings settings_from_environment(std::string& error) {
  const char* text = std::getenv("GABLE_OPTIONS");
  if (text == nullptr) return {};
  auto parsed = parse_options(text);
  error = parsed.error;
  return parsed.settings;
}

}  // namespace

Runtime::Runtime(Settings chosen, std::vector<std::string> domains)
    : settings(std::move(chosen)),
      ranges(layers, RangeNaming(settings.fold, settings.step_range), std::move(domains)),
      autograd(layers),
      started_ns(steady_ns()) {
  if (is_later_rank()) notes.keep_to_report();
}

Runtime& runtime() {
  auto* existing = g_runtime.load(std::memory_order_acquire);
  if (existing != nullptr) return *existing;
  std::string error;
  auto domains = g_ranges_before_fork != nullptr ? g_ranges_before_fork->domains_after_fork()
                                                 : std::vector<std::string>();
  auto* fresh = new Runtime(settings_from_environment(error), std::move(domains));
  if (!g_runtime.compare_exchange_strong(existing, fresh, std::memory_order_acq_rel)) {
    delete fresh;
    return *existing;
  }
  if (!error.empty()) fresh->notes.say("GABLE_OPTIONS: " + error + " Going on with the defaults.");
  return *fresh;
}

void restart_runtime_in_child() {
  // The old one is leaked: a thread of the parent may have held its locks at the moment of the
  // fork. Nothing is allocated here: not every allocator is made for forks beside threads, and most
  // children never need a runtime.
  auto* before = g_runtime.load(std::memory_order_acquire);
  if (before != nullptr) {
    g_ranges_before_fork = &before->ranges;
    // CUDA is dead in the child, but its calls may still tell us of themselves.
    before->hot.watching.store(false, std::memory_order_relaxed);
    before->hot.span_window.store(kNoWindow, std::memory_order_relaxed);
  }
  g_runtime.store(nullptr, std::memory_order_release);
  ThreadRegistry::forget_in_child();
  RequestSocket::close_in_child();
}

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
#include "tools/import/kineto/kineto_calls.h"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace gable {
namespace {

constexpr std::uint32_t kNoProcess = UINT32_MAX, kSeveral = UINT32_MAX - 1;

bool by_correlation(const TracedCall& a, const TracedCall& b) {
  return std::tie(a.correlation, a.start_ns) < std::tie(b.correlation, b.start_ns);
}

TracedCall numbered(std::uint64_t correlation) {
  TracedCall call;
  call.correlation = correlation;
  return call;
}

}  // namespace

void KinetoCalls::add(const TracedCall& call, std::uint32_t process) {
  if (call.thread >= process_of_thread_.size())
    process_of_thread_.resize(call.thread + 1, kNoProcess);
  process_of_thread_[call.thread] = process;
  calls_.push_back(call);
}

void KinetoCalls::sort() {
  std::sort(calls_.begin(), calls_.end(), by_correlation);
  for (const TracedCall& call : calls_)
    processes_[process_of_thread_[call.thread]].see(call.correlation);
}

const TracedCall* KinetoCalls::find(std::uint64_t correlation, std::uint64_t when_ns) const {
  if (correlation == 0) return nullptr;
  auto call = std::lower_bound(calls_.begin(), calls_.end(), numbered(correlation), by_correlation);
  if (call == calls_.end() || call->correlation != correlation) return nullptr;
  // A call of the driver within that of the runtime has its number.
  auto found = call;
  for (; call != calls_.end() && call->correlation == correlation && call->start_ns <= when_ns;
       ++call) {
    if (process_of_thread_[call->thread] != process_of_thread_[found->thread]) found = call;
  }
  return &*found;
}

void KinetoCalls::used(std::int32_t device, const TracedCall& call) {
  const std::uint32_t process = process_of_thread_[call.thread];
  const auto [known, fresh] = of_device_.try_emplace(device, process);
  if (!fresh && known->second != process) known->second = kSeveral;
}

bool KinetoCalls::before(std::uint64_t correlation, std::int32_t device) const {
  if (processes_.empty()) return false;
  const auto of = of_device_.find(device);
  const bool told = of != of_device_.end() && of->second != kSeveral;
  return std::all_of(processes_.begin(), processes_.end(), [&](const auto& each) {
    return (told && each.first != of->second) || each.second.before(correlation);
  });
}

std::optional<std::pair<const TracedCall*, const TracedCall*>> KinetoCalls::around(
    std::uint64_t correlation) const {
  const auto above =
      std::lower_bound(calls_.begin(), calls_.end(), numbered(correlation), by_correlation);
  if (correlation == 0 || above == calls_.begin() || above == calls_.end()) return std::nullopt;
  const auto below = std::prev(above);
  if (below->correlation == 0) return std::nullopt;
  return std::pair(&*below, &*above);
}

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
#include "collector/own_thread.h"

#include <array>
#include <atomic>

namespace gable {
namespace {

// More than there are; never emptied, as a forked child has the same names.
std::array<std::atomic<const char*>, 32> g_names{};

void (*g_mark)() = nullptr;  // none where nothing is kept of threads, as in tools

}  // namespace

void detail::remember_own_name(const char* name) {
  for (auto& slot : g_names) {
    const char* known = nullptr;
    if (slot.compare_exchange_strong(known, name) || std::string_view(known) == name) return;
  }
}

void mark_own_threads_with(void (*mark)()) { g_mark = mark; }

void be_own_thread() {
  if (g_mark != nullptr) g_mark();
}

bool is_own_thread_name(std::string_view name) {
  for (const auto& slot : g_names) {
    const char* known = slot.load();
    if (known == nullptr) return false;
    if (name == known) return true;
  }
  return false;
}

}  // namespace gable

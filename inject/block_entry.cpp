// SPDX-License-Identifier: Apache-2.0
// What gable.profile and gable.h call around the block that is to be profiled.
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/base/no_cancel.h"
#include "collector/runtime/runtime.h"
#include "collector/session/session.h"

#define GABLE_ENTRY extern "C" __attribute__((visibility("default")))

namespace {

constexpr char kBetweenPatterns = '\x1f';

std::optional<std::uint32_t> number(int value) {
  return value < 0 ? std::nullopt : std::optional<std::uint32_t>(value);
}

std::vector<std::string> patterns(const char* text) {
  std::vector<std::string> found;
  std::string_view rest = text == nullptr ? "" : text;
  while (!rest.empty()) {
    const auto end = rest.find(kBetweenPatterns);
    if (end != 0) found.emplace_back(rest.substr(0, end));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  return found;
}

}  // namespace

// Numbers below 0 and null: as the options say. `include` and `exclude`: patterns, with the byte
// 0x1f between them.
GABLE_ENTRY void gable_profile_begin(int wait, int warmup, int active, int repeat,
                                     const char* include, const char* exclude) {
  const gable::NoCancel hold;
  try {
    gable::Block block{{number(wait), number(warmup), number(active), number(repeat)},
                       patterns(include),
                       patterns(exclude)};
    auto& rt = gable::runtime();
    if (auto* session = rt.session.load(std::memory_order_acquire); session != nullptr) {
      session->begin_block(block);
    } else {
      rt.early_block.begin(std::move(block));
    }
  } catch (const std::exception&) {
    return;  // out of memory: the queue goes on as it was
  }
}

GABLE_ENTRY void gable_profile_end(void) {
  const gable::NoCancel hold;
  try {
    auto& rt = gable::runtime();
    rt.early_block.end();
    if (auto* session = rt.session.load(std::memory_order_acquire); session != nullptr)
      session->end_block();
  } catch (const std::exception&) {
    return;
  }
}

// Whether nothing more will be measured, and the report of what was is written; so too before CUDA
// starts.
GABLE_ENTRY int gable_queue_complete(void) {
  auto* session = gable::runtime().session.load(std::memory_order_acquire);
  return session == nullptr || session->is_complete() ? 1 : 0;
}

// The program's end, as far as Gable goes, where the folder of its reports goes before.
GABLE_ENTRY void gable_finish(void) {
  const gable::NoCancel hold;
  if (auto* session = gable::runtime().session.load(std::memory_order_acquire); session != nullptr)
    session->finish();
}

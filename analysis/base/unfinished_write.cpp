// SPDX-License-Identifier: Apache-2.0
#include "analysis/base/unfinished_write.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace gable {

UnfinishedWrite::Slot UnfinishedWrite::slots_[4];
std::atomic<int> WriteUnderWay::count_{0};

void WriteUnderWay::await_all(std::chrono::milliseconds patience) noexcept {
  const timespec millisecond{0, 1'000'000};
  for (auto left = patience.count(); left > 0 && count_.load() > 0; --left)
    ::nanosleep(&millisecond, nullptr);
}

UnfinishedWrite::UnfinishedWrite(int file, const std::string& part, const std::string& path,
                                 bool over)
    : file_(file), part_(part) {
  if (part.size() >= PATH_MAX || path.size() >= PATH_MAX) return;
  for (auto& slot : slots_) {
    auto free = Stage::free;
    if (!slot.stage.compare_exchange_strong(free, Stage::being_made)) continue;
    slot_ = &slot;
    std::snprintf(slot.file, sizeof slot.file, "/proc/self/fd/%d", file);
    std::memcpy(slot.part, part.c_str(), part.size() + 1);
    std::memcpy(slot.path, path.c_str(), path.size() + 1);
    slot.over = over;
    slot.unnamed.store(file >= 0);
    slot.stage.store(Stage::partly);
    return;
  }
}

UnfinishedWrite::~UnfinishedWrite() {
  if (slot_ != nullptr) slot_->stage.store(Stage::free);
}

void UnfinishedWrite::whole() noexcept {
  if (slot_ != nullptr) slot_->stage.store(Stage::whole);
}

bool UnfinishedWrite::link(const char* file, const char* part) noexcept {
  return ::linkat(AT_FDCWD, file, AT_FDCWD, part, AT_SYMLINK_FOLLOW) == 0;
}

bool UnfinishedWrite::give_name() noexcept {
  char file[32];
  std::snprintf(file, sizeof file, "/proc/self/fd/%d", file_);
  if (!link(file, part_.c_str())) return false;
  // Before the file is closed: its number may be another's then.
  if (slot_ != nullptr) slot_->unnamed.store(false);
  return true;
}

// Two threads may end the process at the same time: the second waits for the first, as it would end
// the process between two steps of it.
void UnfinishedWrite::settle_all() noexcept {
  static std::atomic<int> callers{0};
  static std::atomic<bool> settled{false};
  if (callers.fetch_add(1) > 0) {
    const timespec millisecond{0, 1'000'000};
    for (int i = 0; i < 500 && !settled.load(); ++i) ::nanosleep(&millisecond, nullptr);
    return;
  }
  settle_slots();
  settled.store(true);
}

void UnfinishedWrite::settle_slots() noexcept {
  for (auto& slot : slots_) {
    const auto stage = slot.stage.load();
    if (stage != Stage::partly && stage != Stage::whole) continue;
    if (stage == Stage::whole) {
      if (slot.unnamed.load()) (void)link(slot.file, slot.part);
      if (slot.over)
        (void)::rename(slot.part, slot.path);
      else
        (void)::renameat2(AT_FDCWD, slot.part, AT_FDCWD, slot.path, RENAME_NOREPLACE);
    }
    ::unlink(slot.part);  // where it still has that name
  }
}

}  // namespace gable

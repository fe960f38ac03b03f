// SPDX-License-Identifier: Apache-2.0
#include "analysis/unfinished_write.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace gable {

UnfinishedWrite::Slot UnfinishedWrite::slots_[4];

UnfinishedWrite::UnfinishedWrite(const std::string& part, const std::string& path,
                                 bool over) noexcept {
  if (part.size() >= PATH_MAX || path.size() >= PATH_MAX) return;
  for (auto& slot : slots_) {
    auto free = Stage::free;
    if (!slot.stage.compare_exchange_strong(free, Stage::being_made)) continue;
    slot_ = &slot;
    std::memcpy(slot.part, part.c_str(), part.size() + 1);
    std::memcpy(slot.path, path.c_str(), path.size() + 1);
    slot.over = over;
    slot.stage.store(Stage::partly);
    return;
  }
}

UnfinishedWrite::~UnfinishedWrite() {
  if (slot_ != nullptr) slot_->stage.store(Stage::free);
}

void UnfinishedWrite::whole() noexcept {
  auto partly = Stage::partly;
  if (slot_ != nullptr) slot_->stage.compare_exchange_strong(partly, Stage::whole);
}

void UnfinishedWrite::settle_all() noexcept {
  for (auto& slot : slots_) {
    const auto stage = slot.stage.load();
    if (stage != Stage::partly && stage != Stage::whole) continue;
    const bool named =
        stage == Stage::whole &&
        (slot.over ? ::rename(slot.part, slot.path)
                   : ::renameat2(AT_FDCWD, slot.part, AT_FDCWD, slot.path, RENAME_NOREPLACE)) == 0;
    if (!named) ::unlink(slot.part);
  }
}

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// The playback libcupti: how one activity record looks.
#pragma once

#include <cupti.h>

#include <cstddef>
#include <cstdint>

#include "tools/playback/driver/gpu.h"

namespace gable::playback {

// A record whose times are still to come.
struct Slot {
  std::uint8_t* record;
  std::uint64_t start, end;
};

std::size_t size_of(const CUpti_Activity* record);  // 0 for a kind that is not made here
std::size_t record_size(const Work& work);
void write_record(std::uint8_t* at, const Work& work,
                  CUpti_ActivityKind kernel_kind);  // both times 0
void write_times(const Slot& slot);

}  // namespace gable::playback

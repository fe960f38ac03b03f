// SPDX-License-Identifier: Apache-2.0
// Counting into range profiler objects; range_mutex() is held by the caller of everything here.
#pragma once

#include <mutex>
#include <set>
#include <string>

#include "tools/playback/cupti/cupti_range.h"

namespace gable::playback {

std::set<CUpti_RangeProfiler_Object*>& range_objects();  // those that are enabled
CUpti_RangeProfiler_Object* started_object(const Context* context);

void begin_instance(CUpti_RangeProfiler_Object& object, const std::string& name);
void count(CUpti_RangeProfiler_Object& object, const Work& work);
void end_instance(CUpti_RangeProfiler_Object& object);

}  // namespace gable::playback

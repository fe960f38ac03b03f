// SPDX-License-Identifier: Apache-2.0
#include "tests/playback/cupti_state.h"
namespace gable::playback {
void range_submitted(const Work&) {}
void range_captured(const Work&) {}
void range_graph_launched(std::uint32_t) {}
void range_context_gone(Context*) {}
}  // namespace gable::playback

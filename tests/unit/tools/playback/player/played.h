// SPDX-License-Identifier: Apache-2.0
// Plays lines of a recording with the player's program.
#pragma once

#include <string>

namespace gable::tests {

struct Played {
  int code = 0;  // 128 + n after signal n
  std::string out, err;
};

// `lines` follow the header and the kernels small, wide and wide2. What is asked of CUDA and NVTX
// stands in `out` (player_trace.cpp), among what the recording prints.
Played play(const std::string& lines);
// The same without what traces it, in an environment of `before`.
Played play_untraced(const std::string& lines, const std::string& before = "");
// gable-player with these words.
Played run_player(const std::string& words, const std::string& before = "");

// What is asked of CUDA before the first operation that needs it, in a program of one GPU.
inline const std::string kFirstContext = R"(t0 c0 cuDevicePrimaryCtxRetain
t0 c0 + context 1 on device 0
t0 c0 cuCtxSetCurrent
t0 c1 cuModuleLoadData
t0 c1 + module 1
)";

// The lines of `out` that begin with one of the words behind thread and context, "> " or "cu".
std::string only(const std::string& out, const std::string& words);

}  // namespace gable::tests

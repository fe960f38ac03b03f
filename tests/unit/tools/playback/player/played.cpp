// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/tools/playback/player/played.h"

#include <sys/wait.h>

#include <cstdlib>
#include <sstream>

#include "tests/unit/temporary_folder.h"

namespace gable::tests {
namespace {

const char* const kBegin =
    R"({"gable_recording": 1, "origin": "hand-written", "note": "for tests of the player"}
{"device": 0, "name": "First", "chip": "GH100", "compute_capability": [9, 0]}
{"device": 1, "name": "Second", "chip": "GH100", "compute_capability": [9, 0]}
{"kernel": "small", "name": "small", "grid": [2, 3, 4], "block": [5, 6, 7], "dynamic_shared": 8, "time_ns": 1000}
{"kernel": "wide", "name": "wide", "grid": [8, 4, 2], "block": [32, 1, 1], "cluster": [4, 2, 1], "time_ns": 2000}
)";

}  // namespace

Played run_player(const std::string& words, const std::string& before) {
  const TemporaryFolder folder;
  const std::string line =
      "unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH GABLE_PLAYBACK_FAULTS "
      "GABLE_PLAYBACK_SWITCHES GABLE_PLAYBACK_CUPTI; GABLE_PLAYBACK_CUPTI=none " +
      before + " exec '" GABLE_PLAYER "' " + words + " >'" + folder.at("out") + "' 2>'" +
      folder.at("err") + "'";
  const int status = std::system(line.c_str());
  Played played;
  played.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  played.out = folder.text_of("out");
  played.err = folder.text_of("err");
  return played;
}

Played play_untraced(const std::string& lines, const std::string& before) {
  const TemporaryFolder folder;
  const std::string recording = folder.file("recording.jsonl", kBegin + lines);
  return run_player("'" + recording + "'", before);
}

Played play(const std::string& lines) {
  return play_untraced(lines, "CUDA_INJECTION64_PATH='" GABLE_PLAYER_TRACE
                              "' NVTX_INJECTION64_PATH='" GABLE_PLAYER_TRACE "'");
}

std::string only(const std::string& out, const std::string& words) {
  std::string found;
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string thread, context, word;
    fields >> thread >> context >> word;
    if ((" " + words + " ").find(" " + word + " ") != std::string::npos) found += line + "\n";
  }
  return found;
}

}  // namespace gable::tests

// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/tools/playback/player/played.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace gable::tests {
namespace {

const char* const kBegin =
    R"({"gable_recording": 1, "origin": "hand-written", "note": "for tests of the player"}
{"device": 0, "name": "First", "chip": "GH100", "compute_capability": [9, 0]}
{"device": 1, "name": "Second", "chip": "GH100", "compute_capability": [9, 0]}
{"kernel": "small", "name": "small", "grid": [2, 3, 4], "block": [5, 6, 7], "dynamic_shared": 8, "time_ns": 1000}
{"kernel": "wide", "name": "wide", "grid": [8, 4, 2], "block": [32, 1, 1], "cluster": [4, 2, 1], "time_ns": 2000}
)";

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A folder of its own for every run.
class Folder {
 public:
  Folder() : path_(testing::TempDir() + "gable-player-XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) std::abort();
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::string at(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace

Played run_player(const std::string& words, const std::string& before) {
  const Folder folder;
  const std::string line =
      "unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH GABLE_PLAYBACK_FAULTS "
      "GABLE_PLAYBACK_SWITCHES GABLE_PLAYBACK_CUPTI; GABLE_PLAYBACK_CUPTI=none " +
      before + " exec '" GABLE_PLAYER "' " + words + " >'" + folder.at("out") + "' 2>'" +
      folder.at("err") + "'";
  const int status = std::system(line.c_str());
  Played played;
  played.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  played.out = text_of(folder.at("out"));
  played.err = text_of(folder.at("err"));
  return played;
}

Played play_untraced(const std::string& lines, const std::string& before) {
  const Folder folder;
  const std::string recording = folder.at("recording.jsonl");
  std::ofstream(recording) << kBegin << lines;
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

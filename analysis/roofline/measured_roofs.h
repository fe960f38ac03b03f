// SPDX-License-Identifier: Apache-2.0
// Files of roofs measured by `gable ceilings`: one per kind of GPU, found by its driver attributes.
// docs/ceilings.md describes the file. Nothing here throws.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/report/report.h"

namespace gable {

inline constexpr int kRoofsSchema = 1;

struct MeasuredRoof {
  CeilingKind kind = CeilingKind::compute;
  std::string name;     // as in Ceiling
  std::string how;      // "streaming read, 1024 MiB"
  double value = 0;     // FLOP/s or byte/s
  double spread = 0;    // (longest - shortest) / mean of the last repetitions
  bool steady = false;  // the spread fell below the limit asked for
  Maybe sm_clock_hz;    // during the measurement
};

// From the call of a launch until its kernel runs, on an idle GPU.
struct MeasuredLatency {
  double ns = 0;      // median
  double spread = 0;  // (upper quartile - lower quartile) / median
};

struct MeasuredRoofs {
  DeviceInfo device;        // name, compute capability, SMs and clocks
  bool playback = false;    // not measured on a GPU
  std::string measured_at;  // ISO 8601, UTC
  std::vector<MeasuredRoof> roofs;
  std::optional<MeasuredLatency> latency;  // empty in files that do not have it
};

struct ParsedRoofs {
  std::optional<MeasuredRoofs> roofs;
  std::string error;  // one sentence, if there are no roofs
};

[[nodiscard]] std::string to_json(const MeasuredRoofs& roofs);
[[nodiscard]] ParsedRoofs roofs_from_json(std::string_view text);

// The folder of the files: GABLE_CEILINGS, else ${XDG_CACHE_HOME:-~/.cache}/gable. Empty if none is
// set or GABLE_CEILINGS is "none".
[[nodiscard]] std::string roofs_folder();
// The file name for the GPU's kind in that folder.
[[nodiscard]] std::string roofs_file_name(const DeviceInfo& device, bool playback);

// Writes the file and makes missing folders. Returns an empty text on success, else a sentence.
[[nodiscard]] std::string write_roofs_file(const MeasuredRoofs& roofs, const std::string& path);

// The roofs in the folder. Unusable files are ignored, with a sentence each.
struct StoredRoofs {
  std::vector<MeasuredRoofs> all;
  std::vector<Ceiling> stated;  // roofs that another tool's file states of its devices
  std::vector<std::string> problems;
};
[[nodiscard]] StoredRoofs read_roofs_folder(const std::string& folder);

// The roofs of this GPU, or nullptr. Roofs measured under playback are used only for playback.
[[nodiscard]] const MeasuredRoofs* roofs_for(const StoredRoofs& stored, const DeviceInfo& device,
                                             bool playback);

// The best of every name, as ceilings of that device.
[[nodiscard]] std::vector<Ceiling> ceilings_of(const MeasuredRoofs& roofs, std::int32_t device);

}  // namespace gable

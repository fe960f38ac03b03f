// SPDX-License-Identifier: Apache-2.0
// Roofs that `gable ceilings` measured, as files: one for every kind of GPU, found again by what
// the driver says of it. docs/ceilings.md describes the file. Nothing here throws.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/report/report.h"

namespace gable {

inline constexpr int kRoofsSchema = 1;

struct MeasuredRoof {
  CeilingKind kind = CeilingKind::compute;
  std::string name;     // as of Ceiling
  std::string how;      // "streaming read, 1024 MiB"
  double value = 0;     // FLOP/s or byte/s
  double spread = 0;    // (longest - shortest) / mean of the last repetitions
  bool steady = false;  // the spread came below what was asked for
  Maybe sm_clock_hz;    // while it ran
};

struct MeasuredRoofs {
  DeviceInfo device;        // name, compute capability, SMs and clocks
  bool playback = false;    // measured on no GPU
  std::string measured_at;  // ISO 8601, UTC
  std::vector<MeasuredRoof> roofs;
};

struct ParsedRoofs {
  std::optional<MeasuredRoofs> roofs;
  std::string error;  // one sentence, where there are none
};

[[nodiscard]] std::string to_json(const MeasuredRoofs& roofs);
[[nodiscard]] ParsedRoofs roofs_from_json(std::string_view text);

// GABLE_CEILINGS, else ${XDG_CACHE_HOME:-~/.cache}/gable. Empty where none of them is set, or
// GABLE_CEILINGS is "none".
[[nodiscard]] std::string roofs_folder();
// Of the GPU's kind, in that folder.
[[nodiscard]] std::string roofs_file_name(const DeviceInfo& device, bool playback);

// Empty when it worked, else a sentence. Makes the folders that are missing.
[[nodiscard]] std::string write_roofs_file(const MeasuredRoofs& roofs, const std::string& path);

// What the folder has. Files that cannot be used are ignored, with a sentence each.
struct StoredRoofs {
  std::vector<MeasuredRoofs> all;
  std::vector<Ceiling> stated;  // that another tool's file says of its devices
  std::vector<std::string> problems;
};
[[nodiscard]] StoredRoofs read_roofs_folder(const std::string& folder);

// Those of this GPU; nullptr where there are none. What playback measured is for playback alone.
[[nodiscard]] const MeasuredRoofs* roofs_for(const StoredRoofs& stored, const DeviceInfo& device,
                                             bool playback);

// The best of every name, as ceilings of that device.
[[nodiscard]] std::vector<Ceiling> ceilings_of(const MeasuredRoofs& roofs, std::int32_t device);

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// Where a libcupti may lie, given what is mapped into the process and its environment. Pure text
// in, text out, so that the order can be tested without any CUDA.
#pragma once

#include <string>
#include <vector>

namespace gable {

struct CuptiSearch {
  std::vector<std::string> mapped;  // paths of the files mapped into this process
  // Path of the file this code lies in; its build folder may hold pip wheels.
  std::string own_library;
  std::string cuda_home;              // CUDA_HOME or CUDA_PATH, may be empty
  bool played = false;                // the driver is the playback one
  int driver = 0;                     // the driver's major CUDA version; 0: unknown
  std::vector<std::string> toolkits;  // installed toolkits, newest first: "/usr/local/cuda-13.0"
};

// Describes this process: /proc/self/maps, the environment, /usr/local/cuda*, the driver if loaded.
// Never throws for what it cannot read.
[[nodiscard]] CuptiSearch current_search();

// The paths of mapped files in the text of /proc/<pid>/maps, each once, in order.
[[nodiscard]] std::vector<std::string> mapped_files(const std::string& maps_text);

// Mapped files that are a libcupti; the playback driver's own comes first.
[[nodiscard]] std::vector<std::string> mapped_cuptis(const CuptiSearch& search);

// Names and paths to try with dlopen, best first. A name without a slash goes through the loader's
// own search (LD_LIBRARY_PATH, the cache). The driver refuses a newer CUPTI, so with a driver for
// CUDA 12 that version comes first; otherwise that of a mapped libcudart, or else the newest.
[[nodiscard]] std::vector<std::string> cupti_candidates(const CuptiSearch& search);

}  // namespace gable

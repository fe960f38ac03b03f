// SPDX-License-Identifier: Apache-2.0
// What a file is, by what it begins with: files are given with the wrong option, and tools have
// several formats of which Gable reads one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gable {

enum class FileKind : std::uint8_t {
  unknown,
  sqlite,        // from nsys or another tool: its tables tell
  nsys_report,   // .nsys-rep, .qdrep
  nsys_capture,  // .qdstrm: not yet converted to a report
  nsys_json,     // nsys export --type json and jsonlines
  nsys_summary,  // nsys stats
  arrow,         // nsys export --type arrow and arrowdir
  parquet,       // nsys export --type parquetdir
  hdf5,          // nsys export --type hdf
  ncu_report,    // .ncu-rep
  ncu_csv,       // ncu --csv
  trace,         // of PyTorch's, JAX's and TensorFlow's profilers
  chrome_trace,  // in Chrome's format, from an unknown tool
  nsys_trace,    // in Chrome's format, which others make of nsys's exports
  hatchet,       // of Triton's profiler
  xplane,        // of JAX's and TensorFlow's profilers
  gable_report,  // of Gable itself
  nvprof,        // the profiler before nsys and ncu
  rocprof,       // AMD's profilers
  web_page,      // what a server answered instead of the file
  lfs_pointer,   // what git has instead of it
  archive,       // packed by another program than gzip, or twice
};

// The kind by a file's first bytes, unpacked.
[[nodiscard]] FileKind kind_of_bytes(std::string_view head);

// The kind of a file, possibly packed by gzip, or of a folder by the names in it. Unknown for
// pipes, which can be read only once, and for unreadable files, which the reader reports.
[[nodiscard]] FileKind kind_of_file(const std::string& path);

// The sentence for a file given with the wrong option: what it is, and what to do with it.
[[nodiscard]] std::string sentence_of(FileKind kind, const std::string& path);

}  // namespace gable

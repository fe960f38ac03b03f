// SPDX-License-Identifier: Apache-2.0
// What nsys exports as SQLite: kernels and copies with their times, in the NVTX ranges around their
// calls. Schemas 2.9 (2022) to 3.x (2026); a table that is not there means that there was nothing
// of its kind.
#pragma once

#include <string>

#include "tools/import/records/imported.h"
#include "tools/streams/progress.h"

namespace gable {

// Reads kernels, copies, calls, ranges and the GPUs' attributes, and no other table: environment
// variables and processes stay where they are. Sentences call the file `name`; empty: as its path.
// Throws WrongUse.
void read_nsys_sqlite(const std::string& path, Imported& imported, Progress& progress,
                      const std::string& name = {});

// Of a .nsys-rep file: which command makes of it what can be read.
[[nodiscard]] std::string nsys_rep_sentence(const std::string& path);

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// The output of `ncu --csv`: the details page, the raw page and --metrics, of 2020.1 and of 2022 to
// 2026, with whatever the program and ncu printed around it.
#pragma once

#include "tools/import/records/imported.h"
#include "tools/streams/byte_source.h"

namespace gable {

// Adds the launches of the file to `imported.counters`. A file that has other metrics of the same
// launches as one before it completes those. Throws WrongUse where the file is no such output, or
// is broken.
void read_ncu_csv(ByteSource& source, Imported& imported);

// Of a .ncu-rep file: which command makes of it what can be read.
[[nodiscard]] std::string ncu_rep_sentence(const std::string& path);

}  // namespace gable

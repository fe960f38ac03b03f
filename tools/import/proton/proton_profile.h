// SPDX-License-Identifier: Apache-2.0
// Profiles of Triton's profiler (proton): a tree of scopes with the kernels in them, which have a
// number of launches and the sum of their times.
#pragma once

#include "tools/import/records/imported.h"
#include "tools/streams/byte_source.h"

namespace gable {

// Adds kernels, layers and GPUs. Throws WrongUse where the file is no such profile.
void read_proton_profile(ByteSource& source, Imported& imported);

}  // namespace gable

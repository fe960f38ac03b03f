// SPDX-License-Identifier: Apache-2.0
// The GPU that the user names, where the files do not.
#pragma once

#include "tools/gpus/gpu_catalogue.h"
#include "tools/import/records/imported.h"

namespace gable {

// Its published peaks become roofs of the devices in the files, and say that the user named it.
// Throws WrongUse where the files name another GPU, or another compute capability.
void name_gpu(const GpuSpec& gpu, Imported& imported);

}  // namespace gable

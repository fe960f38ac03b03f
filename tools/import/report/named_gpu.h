// SPDX-License-Identifier: Apache-2.0
// The GPU that the user names, where the files do not.
#pragma once

#include "tools/gpus/gpu_catalogue.h"
#include "tools/import/records/imported.h"

namespace gable {

// GPUs of other makers have no roofs here: what would be taken for an NVIDIA chip's is left out,
// and a note says so. Before a GPU is named.
void leave_out_foreign_gpus(Imported& imported);

// Its peaks become roofs of the devices in the files where these leave them open, and say that the
// user named it, or described it in a file. Throws WrongUse where the files name another GPU, or
// have other attributes.
void name_gpu(const GpuSpec& gpu, bool described, Imported& imported);

}  // namespace gable

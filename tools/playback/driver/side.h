// SPDX-License-Identifier: Apache-2.0
// What the playback libcuda exports beyond CUDA: for the playback libcupti and the player.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "tools/playback/driver/gpu.h"

extern "C" {
// The per-thread-stream variants, which cuda.h names only where it maps the plain names to them.
CUresult CUDAAPI cuLaunchKernel_ptsz(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,
                                     unsigned, unsigned, CUstream, void**, void**);
CUresult CUDAAPI cuLaunchCooperativeKernel_ptsz(CUfunction, unsigned, unsigned, unsigned, unsigned,
                                                unsigned, unsigned, unsigned, CUstream, void**);
CUresult CUDAAPI cuLaunchKernelEx_ptsz(const CUlaunchConfig*, CUfunction, void**, void**);
CUresult CUDAAPI cuGraphLaunch_ptsz(CUgraphExec, CUstream);

gable::playback::Gpu* gable_playback_gpu();
gable::playback::ThreadState* gable_playback_thread();
// Holds for the next launch call of this thread.
void gable_playback_next_launch(const gable::playback::NextLaunch* next);
// An executable graph of these kernels; each takes time_ns where given.
CUgraphExec gable_playback_graph(const std::vector<const gable::RecordedKernel*>* kernels,
                                 const std::optional<std::uint64_t>* time_ns);
}

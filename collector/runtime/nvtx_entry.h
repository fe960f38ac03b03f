// SPDX-License-Identifier: Apache-2.0
// Fills the function tables that NVTX hands to an injected library. Every shared object that uses
// NVTX has tables of its own and calls once; both NVTX generations end here.
#pragma once

#include <cstdint>

namespace gable {

// `get_export_table` is NVTX's NvtxGetExportTableFunc_t. Returns false if NVTX offers no known
// tables.
bool attach_nvtx(const void* (*get_export_table)(std::uint32_t));

// Takes the nvtxExtModuleInfo_t of an object that uses NVTX payloads; returns false for another
// extension.
bool attach_nvtx_payloads(void* module_info);

// Restarts string registration in a forked child, since a thread of the parent may hold the old
// lock. The program's handles stay valid.
void forget_strings_in_child();

}  // namespace gable

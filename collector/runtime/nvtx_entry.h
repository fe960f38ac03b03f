// SPDX-License-Identifier: Apache-2.0
// Fills the function tables that NVTX hands to an injected library. Every shared object that uses
// NVTX has tables of its own and calls once; both NVTX generations end here.
#pragma once

#include <cstdint>

namespace gable {

// `get_export_table` is NVTX's NvtxGetExportTableFunc_t. False when NVTX offers no tables we know.
bool attach_nvtx(const void* (*get_export_table)(std::uint32_t));

// What an object that uses NVTX's payloads hands over: an nvtxExtModuleInfo_t. False where it is of
// another extension.
bool attach_nvtx_payloads(void* module_info);

// In a forked child: strings are registered anew; a thread of the parent may hold the old ones'
// lock. Handles that the program has stay good.
void forget_strings_in_child();

}  // namespace gable

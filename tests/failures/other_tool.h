// SPDX-License-Identifier: Apache-2.0
// Another CUPTI tool, as a library that a program loads: subscribes and records kernels as
// torch.profiler does.
#pragma once

extern "C" {
int other_tool_begin();    // what cuptiSubscribe answered; records kernels from here on
int other_tool_kernels();  // records since then
}

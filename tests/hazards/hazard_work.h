// SPDX-License-Identifier: Apache-2.0
// The ordinary work of the hazard programs: one kernel, steps of four launches in a layer.
#pragma once

#include <cuda.h>

#include <functional>
#include <map>
#include <string>

extern "C" {  // from cudaProfiler.h, which is in a wheel of its own
CUresult CUDAAPI cuProfilerStart(void);
CUresult CUDAAPI cuProfilerStop(void);
}

using Hazard = std::function<int()>;
const std::map<std::string, Hazard>& ways_to_end();  // hazard_ends.cpp

extern int g_number;  // hazard NAME NUMBER: of threads, launches or steps

// Ends the program with 99 on an error of the driver.
void check(CUresult code, const char* what);

CUcontext open_gpu();
void launch(int count);
void steps(int count);

// A normal run: enough steps for the whole queue at --active 1.
void work();
// The same for programs whose end lets nobody write anything any more: until the report of the
// complete queue is there, at most 20 s. An unprofiled run has no report to wait for.
void work_then_wait();

// Waits at most 20 s for a report, of a program that runs or of a complete queue.
void await_report(bool complete);

// Threads that launch as they please after a common start, each with pauses of its own. `steps`:
// each has steps of its own, which end and begin while those of others are open.
void launch_freely(int threads, bool steps);

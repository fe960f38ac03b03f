// SPDX-License-Identifier: Apache-2.0
// Checks that keep data that does not belong together out of one row. All are always on; the
// simulation switches single ones off to show that it would notice.
#pragma once

namespace gable {

struct JoinChecks {
  // --- per window, which is thrown away if a check fails
  bool modules = true;        // a module was loaded within it
  bool new_functions = true;  // a kernel ran for the first time within it
  bool captures = true;       // a stream was captured within it
  bool stuck = true;          // another thread's change of phase took too long
  bool dropped = true;        // CUPTI dropped ranges
  bool missing = true;        // a launch came back without counters
  bool unranged = true;       // a launch had no range of its own
  bool thread_blocks = true;  // the thread blocks counted are not the grid's
  // --- per run
  bool names = true;     // ranges are joined to launches by name, not by their order
  bool distrust = true;  // if thread blocks never fit, FLOPs are not trusted either
  bool classes = true;   // steps with different launches are collected apart
  // --- for steps found by the period of the launch sequence
  bool period_segments = true;  // three stretches in a row are equal
  bool period_content = true;   // equal in their launches, not only in number
  bool period_outer = true;     // the loop around an inner one is the step
  bool period_lost = true;      // what no longer fits is no step
  bool period_forgets = true;   // windows of another kind are not joined with steps
  // --- per launch key, whose row is flagged if a check fails
  bool flops_agree = true;     // its FLOPs are the same in every flops window
  bool spread = true;          // its bytes and durations are alike in every window
  bool times_agree = true;     // its durations are alike with and without counters
  bool launches_agree = true;  // it is launched as often in windows of every phase
};

}  // namespace gable

/* SPDX-License-Identifier: Apache-2.0
 * A program in C that names its layers, its steps and what is to be profiled itself. */
#include "inject/gable.h"
#include "tests/inject/one_kernel.h"

static void launch(const char* layer, int count) {
  int range = gable_range_begin(layer), i;
  for (i = 0; i < count; ++i) launch_kernel();
  gable_range_end(range);
}

static void steps(int count, int launches) {
  int i;
  for (i = 0; i < count; ++i) {
    launch("first", launches);
    launch("second", 1);
    gable_step_border();
  }
}

int main(void) {
  struct gable_schedule schedule = GABLE_SCHEDULE_DEFAULT;
  gable_step_border(); /* before there is a GPU: nothing comes of it */
  open_gpu();
  steps(30, 1);
  schedule.active = 2;
  schedule.wait = 0;
  schedule.include = "second";
  gable_profile_begin_block(&schedule);
  steps(60, 3);
  gable_profile_end_block();
  steps(10, 1);
  puts("done");
  return 7;
}

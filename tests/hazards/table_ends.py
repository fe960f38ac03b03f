# SPDX-License-Identifier: Apache-2.0
"""The table of hazards: programs that use the GPU themselves, and end in their own way."""
from table_case import Case, WITH_CUDA

MODES = ("return", "exit", "exit_in_range", "_exit", "quick_exit", "exit_from_thread", "exception", "abort", "terminated", "interrupted",
         "own_handler", "late_handler", "own_usr2", "late_usr2", "ignored_signal", "killed", "fork", "fork_killed_child", "fork_before_cuda",
         "many_forks", "threads", "context_destroyed", "no_cuda", "gable_step", "profiler_api", "own_file_as_standard_error",
         "return_at_once", "entries_twice", "dlopen_dlclose")

CASES = [Case(f"hazard: {mode}", ("{hazard}", mode), gpu=False, ways=WITH_CUDA) for mode in MODES]
# It replaces itself before its output is written, and no library may write that first.
CASES += [Case("hazard: replace_itself", ("{hazard}", "replace_itself", "3"), gpu=False, ways=WITH_CUDA)]
CASES += [Case(f"hazard: {name} {threads}", ("{hazard}", name, str(threads)), gpu=False, ways=WITH_CUDA, longer=True)
          for name in ("free_threads", "step_threads") for threads in (2, 8, 32)]

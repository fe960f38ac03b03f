// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/prove/facts_questions.h"

namespace gable::prove {

const std::vector<Question>& questions() {
  static const auto* all = new std::vector<Question>{
      {"E1",
       "What happens when kernel activity is on while the range profiler takes hardware counters?",
       "They are never on together. Starting the profiler engine may drop activity silently, so "
       "its "
       "kinds are enabled anew after the last counter window; then records come.",
       {"activity_hw"}},
      {"E2",
       "The same with instrumented (SASS) counters, which others report to hang.",
       "As E1: they are never on together.",
       {"activity_flops"}},
      {"E3",
       "Can windows of hardware counters, instrumented counters and activity follow one another, "
       "and "
       "at what cost?",
       "Yes: hw, flops and then time, with every launch counted and every record there, if each "
       "configuration has a profiler object of its own. FLOPs are counted before records are on.",
       {"queue", "toggle", "overflow"}},
      {"E4",
       "Does kernel replay of a configuration of one pass save and restore memory?",
       "No: what saves memory is a second pass. Gable uses user replay with single passes, and "
       "kernel "
       "replay only where it is asked for.",
       {"replay_1_gib", "replay_16_gib"}},
      {"E5",
       "Does one range profiler object take a second configuration after Stop?",
       "No: it goes on with the first one, whatever SetConfig answers. Each configuration gets an "
       "object of its own. Images live until the profiler is disabled.",
       {"second_config"}},
      {"E6",
       "Are launches of other threads and streams counted, in which order do their ranges come "
       "back, "
       "and may another thread stop and decode?",
       "All threads of the context are counted. The order is not relied on alone: thread blocks "
       "must "
       "fit. Stop and Decode run on a helper's thread; where that is refused, on the caller's.",
       {"threads"}},
      {"E7",
       "Do instrumented counters see kernels of modules that are loaded later?",
       "Yes. A window in which a module appears is thrown away all the same.",
       {"late_module", "late_module_eager"}},
      {"E8",
       "How many callbacks and ranges does a launch have under kernel replay of two passes?",
       "One callback per launch, and one range, which has the work of one run.",
       {"replayed"}},
      {"E9",
       "What do ranges make of CUDA graphs, and a capture of a window that is open?",
       "A user range counts the whole graph. CUPTI makes no automatic ranges of its kernels, and a "
       "window of such ranges cannot be stopped after it: Gable ends it before. Under kernel "
       "replay "
       "a graph has a range for each kernel, or none. A window ends before a capture begins.",
       {"graph_user", "graph_auto", "graph_replay", "capture"}},
      {"E10",
       "Can two contexts or two GPUs be profiled at once, and do automatic ranges hang "
       "collectives?",
       "Of the contexts of one GPU only one at a time: they take turns. In programs of several "
       "ranks nothing waits after a launch.",
       {"two_contexts", "two_devices", "collectives"}},
      {"E11",
       "What does a launch cost within a window, in automatic and in user ranges?",
       "A user range around a launch costs as much as an automatic range, about 1 ms, and works "
       "with CUDA graphs too; so user ranges are tried first.",
       {"launch_cost", "user_launch"}},
      {"E12",
       "What do decoding and evaluating cost, and how large is the image of a range?",
       "Little enough for the end of a window: nothing is decoded while a window is open. What "
       "takes long is the first Start of an object: more than 1 ms for each range.",
       {"decode_cost"}},
      {"E13",
       "Does the counted duration agree with the activity record and with CUDA events?",
       "Above 50 us within 1 %. All times come from activity records where there are any.",
       {"times", "linger"}},
      {"E14",
       "PM sampling: how short may its interval be and what does overflow say; beside activity, in "
       "graphs, against ranges' bytes; does it lock clocks, what do 200 steps cost, and does it "
       "live "
       "beside a range profiler?",
       "Gable does not use it. A later phase needs every sample at 100 us, all records beside it, "
       "bytes within 2 % of ranges', free clocks, and less than 2 % of a step.",
       {"sampling", "sampling_interval", "sampling_overflow", "sampling_activity", "sampling_graph",
        "sampling_bytes", "sampling_clock", "sampling_cost"}},
      {"E15",
       "What becomes of torch.profiler within a profiled program, and which CUPTI is used?",
       "Its start fails with an error that the program survives; both use the one CUPTI that is "
       "mapped "
       "already.",
       {"torch_profiler"}},
      {"E16",
       "Are output, exit code and report right however the program ends?",
       "Yes: return, exit, _exit, exceptions, signals, forks and lost contexts.",
       {"endings"}},
      {"E17",
       "Which call refuses a user without permission, and are instrumented counters refused too?",
       "cuptiRangeProfilerEnable refuses, for instrumented counters as well; activity needs no "
       "permission. Any of the calls may be the one.",
       {"permission", "other_user"}},
      {"E18",
       "Do copies and memsets become automatic ranges, and do tiny kernels give numbers?",
       "Copies and memsets make no ranges; the smallest kernel gives numbers.",
       {"copies"}},
      {"E19",
       "Do counts agree with the instruction stream, and DRAM sectors with the bytes of a copy?",
       "Instructions exactly; the HFMA2 counter counts instructions of two lanes, and constants "
       "moved "
       "by HFMA2 are a few a thread. DRAM of the third of three copies within 2 %. The stage truth "
       "goes through every kind of kernel.",
       {"counts"}},
      {"E20",
       "Do records of more than a million kernels in graphs keep their times?",
       "Yes; records without times are counted and left out.",
       {"many_records"}},
      {"E21",
       "Which passes does this chip need, asked on the device?",
       "Those that CUPTI's host API names without a GPU: each configuration is one pass. On H100 "
       "and "
       "H200 four of hardware and one of instructions.",
       {"about"}},
      {"E22",
       "Where does this run, and which calls does the place refuse?",
       "Nowhere but where permission is missing is a call refused. A sandbox that hides the "
       "counters "
       "leaves the times, and Gable says so.",
       {"runtime"}},
      {"E23",
       "How many ranges fit a window, what do they take, and which call refuses more?",
       "1,024 fit. A range takes about 1.2 MB of the GPU's memory, of which counters take at most "
       "a "
       "quarter of what is free. Where more are refused, Gable asks for fewer and cuts the window "
       "there.",
       {"ranges_256", "ranges_1024", "ranges_4096", "ranges_16384", "ranges_65536"}},
      {"E24",
       "Are launches counted in user ranges that are pushed at their ENTER and popped at their "
       "EXIT, "
       "the one whose ENTER starts the window among them?",
       "Yes, each with its own work.",
       {"user_callbacks"}},
      {"E25",
       "Can threads push in turn, and what becomes of a push while another thread's range is open?",
       "In turn they can. A range is open on its context, not on a thread: a second push is "
       "refused or counted in the open range, so only one thread has a range open at a time.",
       {"user_threads", "user_threads_open"}},
      {"E26",
       "Are instrumented counters in user ranges those of automatic ranges?",
       "Yes, to the last instruction.",
       {"sass_user"}},
      {"E27",
       "How much longer than the record is a duration that was counted in a user range?",
       "It is an upper bound, as it has the host's time between push, launch and pop: rows take "
       "times from records, and below 1.28 ms from nothing else.",
       {"durations"}},
      {"E28",
       "Do calls of ours load modules, and on which thread?",
       "Start may. On the calling thread, so that they are not taken for the program's.",
       {"start_module"}},
      {"E29",
       "Does CUPTI count a thread's launches where another thread, which launches nothing, makes "
       "all "
       "calls for the profiler, with every push and pop, while the launching thread waits within "
       "its callback?",
       "Yes. Where it refuses, or counts nothing, Gable makes the calls on the launching thread: "
       "that loses one window, and hung calls can then no longer be abandoned.",
       {"user_helper"}},
      {"Further",
       "Do Start and Stop work inside launch callbacks, and are ranges of one name one range?",
       "They work at the ENTER of a launch on the program's thread; ranges of one name are summed "
       "into "
       "one, so that every range has a name of its own.",
       {"callbacks", "same_name", "start_twice"}},
  };
  return *all;
}

}  // namespace gable::prove

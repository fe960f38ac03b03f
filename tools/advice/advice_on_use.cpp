// SPDX-License-Identifier: Apache-2.0
#include "tools/advice/advice_on_use.h"

#include <algorithm>
#include <map>
#include <string>

#include "analysis/base/display.h"
#include "analysis/roofline/occupancy.h"

namespace gable {
namespace {

constexpr double kWarp = 32;
// L1 sectors of a warp's access: 32 threads side by side, of 4 bytes each, and of 16, the widest.
constexpr double kSectorsOf4 = 4, kSectorsOf16 = 16;
constexpr double kFewThreads = 0.75;  // of a warp
constexpr double kFewWarps = 0.5;     // of an SM
constexpr double kNearLimit = 0.8;    // of the warps that there is room for
constexpr double kSpills = 0.02;      // of warp instructions
constexpr double kMuchShared = 0.25;  // of warp instructions
constexpr double kMuchInteger = 0.5;  // of thread instructions

const SetMetrics& metrics_of(const PlotRow& row) {
  static const SetMetrics kNone;
  return row.kernel->metrics ? *row.kernel->metrics : kNone;
}

double share_of(const std::map<std::string, Maybe>& mix, const char* kind) {
  const auto found = mix.find(kind);
  return found == mix.end() ? 0 : found->second.value_or(0);
}

bool waits(const PlotRow& row) { return row.sum.roof.bound == Bound::latency; }
bool waits_or_computes(const PlotRow& row) {
  return waits(row) || row.sum.roof.bound == Bound::compute;
}

std::string of_time(const AdviceFacts& facts, const AdviceFacts::Part& part) {
  return percent(part.share(facts.kernels_ns)) + " of the GPU time is ";
}

// An item without a saving: nobody knows what of the time it explains.
void say(const AdviceFacts& facts, const AdviceFacts::Part& part, const char* id,
         const std::string& action, const std::string& what, std::vector<Advice>& advice) {
  if (part.rows == 0 || part.share(facts.kernels_ns) < kLeastShare) return;
  advice.push_back({id, action, of_time(facts, part) + what, std::nullopt});
  place(advice.back(), part);
}

void advise_on_access(const AdviceFacts& facts, std::vector<Advice>& advice) {
  const AdviceFacts::Part strided = facts.part(
      [](const PlotRow& row) {
        const SetMetrics& metrics = metrics_of(row);
        return memory_holds(row) && std::max(metrics.sectors_per_load.value_or(0),
                                             metrics.sectors_per_store.value_or(0)) > kSectorsOf16;
      },
      [](const PlotRow& row) { return row.sum.roof.memory_ns; });
  if (strided.rows > 0 && strided.saving_ns >= kLeastShare * facts.unit_ns) {
    advice.push_back(
        {"strided_access",
         "Let the threads of a warp access neighbouring addresses: change the layout, or stage "
         "through shared memory. ncu --section SourceCounters -k regex:NAME shows which lines.",
         of_time(facts, strided) + "memory-bound kernels with more than " + digits(kSectorsOf16) +
             " L1 sectors for each load or store (coalesced access takes " + digits(kSectorsOf4) +
             " at 4 bytes a thread, " + digits(kSectorsOf16) + " at 16).",
         strided.saving_ns});
    place(advice.back(), strided);
  }
  say(facts, facts.part([](const PlotRow& row) {
    return (memory_holds(row) || waits(row)) &&
           share_of(metrics_of(row).memory_mix, "local") >= kSpills;
  }),
      "local_memory",
      "Keep values in registers: fewer values alive at once, more registers a thread "
      "(__launch_bounds__, -maxrregcount), arrays whose indices the compiler knows. What "
      "spills is shown by nvcc -Xptxas -v and cuobjdump --dump-resource-usage FILE.",
      "kernels with " + percent(kSpills) +
          " or more of their instructions in local memory, which takes what does not fit in "
          "registers.",
      advice);
  say(facts, facts.part([](const PlotRow& row) {
    return waits(row) && share_of(metrics_of(row).memory_mix, "shared") >= kMuchShared;
  }),
      "shared_memory",
      "See whether banks of shared memory conflict (gable profile --metrics "
      "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum): pad rows, swizzle addresses, or keep "
      "more in registers.",
      "kernels bound by latency with " + percent(kMuchShared) +
          " or more of their instructions in shared memory.",
      advice);
}

void advise_on_threads(const AdviceFacts& facts, std::vector<Advice>& advice) {
  say(facts, facts.part([](const PlotRow& row) {
    return waits_or_computes(row) && metrics_of(row).warp_efficiency.value_or(1) < kFewThreads;
  }),
      "divergence",
      "Let the threads of a warp do the same: sort or group work by branch, select instead of "
      "branching, blocks of a multiple of 32 threads. ncu --section SourceCounters -k regex:NAME "
      "shows which branches diverge.",
      "kernels in which fewer than " + digits(kFewThreads * kWarp) +
          " of a warp's 32 threads are active in an instruction, on average.",
      advice);
  say(facts, facts.part([](const PlotRow& row) {
    return waits_or_computes(row) && share_of(metrics_of(row).mix, "integer") >= kMuchInteger;
  }),
      "index_arithmetic",
      "Compute fewer indices: 32-bit instead of 64-bit ones, sizes known when compiling (template "
      "arguments) instead of divisions by variables, pointers that move with the loop.",
      "kernels in which at least " + percent(kMuchInteger) +
          " of the thread instructions are integer arithmetic.",
      advice);
}

// The SM resource that these kernels use up first: "registers (80 % of that time)".
std::string limits_of(const AdviceFacts& facts, const AdviceFacts::Part& part) {
  std::map<std::string, double> times;
  for (const auto& [row, saving] : part.each) {
    const auto limit = facts.occupancy_limit(*row);
    times[limit ? limit->by : "unknown"] += *row->sum.time_total_ns;
  }
  std::string text;
  for (const auto& [by, time] : times)
    text +=
        (text.empty() ? "" : ", ") + by + " (" + percent(time / part.time_ns) + " of that time)";
  return text;
}

void advise_on_occupancy(const AdviceFacts& facts, std::vector<Advice>& advice) {
  const auto few = [](const PlotRow& row) {
    return waits(row) && metrics_of(row).occupancy.value_or(1) < kFewWarps;
  };
  // Where there is room for more, it is the blocks that do not come or end early.
  const auto has_room = [&](const PlotRow& row) {
    const auto limit = facts.occupancy_limit(row);
    return limit && *metrics_of(row).occupancy < kNearLimit * limit->occupancy;
  };
  const AdviceFacts::Part limited =
      facts.part([&](const PlotRow& row) { return few(row) && !has_room(row); });
  say(facts, limited, "occupancy",
      "Let an SM hold more warps, so that others run while some wait: fewer registers a thread "
      "(__launch_bounds__(THREADS, BLOCKS), -maxrregcount), less shared memory a block, blocks of "
      "128 to 256 threads. Or more independent loads in each thread.",
      "kernels bound by latency with less than " + percent(kFewWarps) +
          " of the warps that an SM can hold. What limits that number: " +
          limits_of(facts, limited) + ".",
      advice);
  say(facts, facts.part([&](const PlotRow& row) { return few(row) && has_room(row); }),
      "uneven_blocks",
      "Keep every SM supplied with blocks: blocks of equal length, more and smaller ones, or "
      "blocks "
      "that take the next piece of work themselves (a persistent kernel, stream-K).",
      "kernels bound by latency with less than " + percent(kFewWarps) +
          " of the warps that an SM can hold, though their blocks leave room for more.",
      advice);
}

}  // namespace

void advise_on_use(const AdviceFacts& facts, std::vector<Advice>& advice) {
  advise_on_access(facts, advice);
  advise_on_threads(facts, advice);
  advise_on_occupancy(facts, advice);
}

}  // namespace gable

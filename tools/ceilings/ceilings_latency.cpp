// SPDX-License-Identifier: Apache-2.0
#include "tools/ceilings/ceilings_latency.h"

#include <algorithm>
#include <vector>

namespace gable {

const char* latency_ptx() {
  return ".version 6.3\n.target sm_70\n.address_size 64\n\n"
         ".visible .entry gable_latency(\n  .param .u64 p_seen,\n  .param .u32 p_number\n)\n{\n"
         "  .reg .b64 seen;\n  .reg .b32 number;\n"
         "  ld.param.u64 seen, [p_seen];\n  ld.param.u32 number, [p_number];\n"
         "  st.release.sys.global.u32 [seen], number;\n  ret;\n}\n";
}

std::optional<MeasuredLatency> measure_latency(
    const std::function<std::optional<double>()>& launch) {
  std::vector<double> times;
  for (int i = 0; i < kFirstLaunches + kLatencyLaunches; ++i) {
    const std::optional<double> ns = launch();
    if (!ns) return std::nullopt;
    if (i >= kFirstLaunches) times.push_back(*ns);
  }
  std::sort(times.begin(), times.end());
  const auto at = [&](std::size_t quarters) { return times[quarters * (times.size() - 1) / 4]; };
  if (!(at(2) > 0)) return std::nullopt;
  return MeasuredLatency{at(2), (at(3) - at(1)) / at(2)};
}

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// What every experiment of the probe has, and the list of them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/gpu/driver.h"
#include "tests/gpu/probe/cupti.h"
#include "tests/gpu/probe/kernels.h"

namespace gable::probe {

// One object a line. Numbers that are not finite become null.
void observe(const char* what, const Json& fields);
// The last line: whether the GPU does what the design assumes, in one sentence with its numbers.
// The calls of CUPTI that failed go with it.
void answer(bool agrees, const std::string& says, const Json& fields);

// On the playback GPU loops are short: nothing is measured there.
[[nodiscard]] bool rehearsed();
[[nodiscard]] int turns(int on_a_gpu, int rehearsed_turns);

// A GPU with the kernels and memory for their results.
class Work {
 public:
  Work();
  [[nodiscard]] CUcontext context() const { return gpu.context(); }
  void fma(int count = 1, CUstream stream = nullptr) const;
  // For copies of so many bytes. Nothing is copied on the playback GPU: little is taken there.
  [[nodiscard]] CUdeviceptr large(std::size_t bytes);
  // Launch number i: its grid tells it from its neighbours.
  void numbered(int i, CUstream stream = nullptr) const;
  [[nodiscard]] static unsigned grid_of(int i) { return kGrid + static_cast<unsigned>(i) % kGrids; }
  // Of one launch of fma or numbered(0).
  [[nodiscard]] static double ffma() { return static_cast<double>(kGrid) * kBlock * kTurns; }
  [[nodiscard]] static CUstream stream();  // one more

  gpu::Gpu gpu;
  CUdeviceptr out = 0;
  CUfunction fma_kernel = nullptr;
};

inline constexpr const char* kCtas = "sm__ctas_launched.sum";
inline constexpr const char* kTime = "gpu__time_duration.sum";
inline constexpr const char* kFfma = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum";
inline constexpr const char* kFadd = "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum";
inline constexpr const char* kHfma = "smsp__sass_thread_inst_executed_op_hfma_pred_on.sum";

// One window of automatic ranges with user replay; false when a call failed.
bool window(Profiler& profiler, const PassPlan& pass, std::size_t ranges,
            const std::function<void()>& launches, std::vector<Profiler::Range>& read,
            CUpti_ProfilerReplayMode replay = CUPTI_UserReplay);
// Ranges whose metric has exactly this value.
[[nodiscard]] std::size_t equal(const std::vector<double>& values, double value);
// Ranges i for which values[i] is the grid of launch i.
[[nodiscard]] std::size_t in_order(const std::vector<double>& ctas);
// The same in any order.
[[nodiscard]] bool same_grids(std::vector<double> ctas, int launches);
// Ranges that are named after their launch: how many have that launch's thread blocks, and no
// other's.
[[nodiscard]] std::size_t right_by_name(const std::vector<Profiler::Range>& ranges,
                                        const std::vector<double>& ctas);

// Counts the program's launches that CUPTI calls back for, and calls `each` before them and
// `after` behind them with their number.
void follow_launches(std::function<void(int)> each, std::function<void(int)> after = {});
[[nodiscard]] int launches_followed();
// Counts the modules that CUPTI says were loaded, and those of them that came on another thread
// than this one. To be called before anything is loaded.
void follow_modules();
struct Modules {
  int all = 0, elsewhere = 0;
};
[[nodiscard]] Modules modules_followed();  // since the last call

struct Experiment {
  const char* name;
  void (*run)();
};
void add_about(std::vector<Experiment>& list);
void add_windows(std::vector<Experiment>& list);
void add_launches(std::vector<Experiment>& list);
void add_user_callbacks(std::vector<Experiment>& list);
void add_user_ranges(std::vector<Experiment>& list);
void add_calls(std::vector<Experiment>& list);
void add_graphs(std::vector<Experiment>& list);
void add_costs(std::vector<Experiment>& list);
void add_numbers(std::vector<Experiment>& list);
void add_sampling(std::vector<Experiment>& list);

}  // namespace gable::probe

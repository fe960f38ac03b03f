// SPDX-License-Identifier: Apache-2.0
// One call of CUPTI after the other: which of them this place refuses, and what they load.
#include <cupti_activity.h>
#include <cupti_profiler_target.h>

#include "collector/cupti/cupti_params.h"
#include "tests/gpu/probe/experiments.h"
#include "tests/gpu/prove/place.h"

namespace gable::probe {
namespace {

// Calls in the product's order, each printed as it ends: a call that hangs is the one after the
// last line.
struct Calls {
  std::size_t made = 0, refused = 0;
  std::string first_refused;

  bool operator()(const char* name, const std::function<bool()>& call) {
    const std::size_t before = failures().size();
    bool good = false;
    std::string said = "done";
    try {
      good = call();
      if (failures().size() > before) said = failures()[before];
    } catch (const Skipped& reason) {
      said = reason.what();
    }
    ++made;
    if (!good) {
      ++refused;
      if (first_refused.empty()) first_refused = said;
    }
    observe("call", {{"call", name}, {"good", good}, {"says", said}});
    return good;
  }
};

bool supported(CUpti_Profiler_API api) {
  GABLE_PARAMS(CUpti_Profiler_DeviceSupported, params);
  params.api = api;
  const bool asked =
      told("cuptiProfilerDeviceSupported", cupti().cuptiProfilerDeviceSupported(&params));
  return asked && params.isSupported == CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
}

// "counters and times", "times alone" or "neither", and which call refuses. A place that hides the
// counters is no fault of Gable's, so that this agrees wherever times come.
void runtime() {
  const std::string place = prove::place_name();
  const Work work;
  Calls call;
  if (!call("opening CUPTI", [] { return !cupti().path.empty(); })) {
    return answer(false, place + ": " + call.first_refused,
                  {{"runtime", place}, {"counted", false}});
  }
  std::size_t records = 0;
  bool hw = false, flops = false;
  call("cuptiActivityEnable", [] { return activity_on(); });
  call("records of three launches", [&] {
    work.fma(3);
    work.gpu.wait();
    records = flushed_records().kernels;
    return records == 3;
  });
  call("cuptiActivityDisable", [] { return activity_off(); });
  if (call("cuptiProfilerInitialize", [] { return start_engine(); })) {
    call("cuptiDeviceGetChipName", [] { return !chip().empty(); });
    call("cuptiProfilerDeviceSupported", [] { return supported(CUPTI_PROFILER_RANGE_PROFILING); });
    Profiler profiler(work.context());
    if (call("cuptiRangeProfilerEnable", [&] { return profiler.enable(); })) {
      const auto counted = [&](const PassPlan& (*pass)(), const char* metric, double value) {
        bool good = call("metrics of the chip", [&] { return !pass().metrics.empty(); }) &&
                    call("counter image and cuptiRangeProfilerSetConfig", [&] {
                      return profiler.configure(pass(), CUPTI_UserRange, CUPTI_UserReplay, 16);
                    });
        good = good && call("cuptiRangeProfilerStart", [&] { return profiler.start(); });
        if (!good) return false;
        call("cuptiRangeProfilerPushRange", [&] { return profiler.push("0"); });
        work.numbered(0);
        call("cuptiRangeProfilerPopRange", [&] { return profiler.pop(); });
        work.gpu.wait();
        good = call("cuptiRangeProfilerStop", [&] { return profiler.stop(); }) &&
               call("cuptiRangeProfilerDecodeData", [&] { return profiler.decode(); });
        std::vector<double> values;
        return good && call("values of the range", [&] {
                 values = profiler.values(profiler.read(), metric);
                 return values.size() == 1 && values[0] == value;
               });
      };
      hw = counted(hw_pass, kCtas, kGrid);
      flops = counted(flops_pass, kFfma, Work::ffma());
      call("cuptiRangeProfilerDisable", [&] { return profiler.disable(); });
    }
  }
  const std::string what = hw || flops    ? records == 3 ? "counters and times" : "counters alone"
                           : records == 3 ? "times alone"
                                          : "neither counters nor times";
  answer(
      records == 3 || hw || flops,
      place + ": " + what +
          (call.refused == 0 ? "; no call is refused" : "; refused first: " + call.first_refused),
      {{"runtime", place},
       {"calls", call.made},
       {"refused", call.refused},
       {"records", records},
       {"hw", hw},
       {"flops", flops},
       {"counted", hw || flops}});
}

// Which of our own calls load modules: the product must not take them for the program's.
void start_module() {
  follow_modules();
  const Work work;
  const int of_program = modules_followed().all;
  start_engine();
  Profiler profiler(work.context());
  Json fields = {{"of_the_program", of_program}};
  int own = 0, elsewhere = 0;
  std::string says;
  const auto after = [&](const std::string& call) {
    const Modules seen = modules_followed();
    fields[call] = seen.all;
    own += seen.all;
    elsewhere += seen.elsewhere;
    if (seen.all > 0) says += (says.empty() ? "" : ", ") + call + " " + std::to_string(seen.all);
  };
  bool done = profiler.enable();
  after("Enable");
  int in_launches = 0;
  for (const bool instrumented : {false, true}) {
    const std::string name = instrumented ? " of flops" : " of hw";
    done = done && profiler.configure(instrumented ? flops_pass() : hw_pass(), CUPTI_UserRange,
                                      CUPTI_UserReplay, 64);
    after("SetConfig" + name);
    done = done && profiler.start();
    after("Start" + name);
    done = done && profiler.push("0");
    after("PushRange" + name);
    work.numbered(0);
    work.gpu.wait();
    in_launches += modules_followed().all;
    done = done && profiler.pop();
    after("PopRange" + name);
    done = done && profiler.stop();
    after("Stop" + name);
    done = done && profiler.decode();
    after("DecodeData" + name);
  }
  done = profiler.disable() && done;
  after("Disable");
  fields.update({{"window_done", done},
                 {"own", own},
                 {"in_launches", in_launches},
                 {"on_another_thread", elsewhere}});
  answer(done && in_launches == 0 && elsewhere == 0 && of_program > 0,
         "modules loaded within calls of ours: " + (says.empty() ? "none" : says) +
             "; within launches " + std::to_string(in_launches) + ", on another thread " +
             std::to_string(elsewhere),
         fields);
}

// Start where a window is open already, and after a Stop: which call refuses?
void start_twice() {
  const Work work;
  start_engine();
  Profiler profiler(work.context());
  bool done = profiler.enable() &&
              profiler.configure(hw_pass(), CUPTI_AutoRange, CUPTI_UserReplay, 64) &&
              profiler.start();
  const bool second = done && profiler.start();
  work.fma(2);
  work.gpu.wait();
  done = done && profiler.stop() && profiler.decode();
  const std::size_t ranges = done ? profiler.read().size() : 0;
  const bool again = done && profiler.start();
  if (again) done = profiler.stop();
  answer(done && ranges == 2,
         std::string("a second Start in an open window is ") + (second ? "taken" : "refused") +
             ", and the window keeps " + std::to_string(ranges) +
             " of 2 ranges; Start after Stop without a new configuration " +
             (again ? "works" : "does not work"),
         {{"window_done", done},
          {"second_start", second},
          {"ranges", ranges},
          {"start_after_stop", again}});
}

}  // namespace

void add_calls(std::vector<Experiment>& list) {
  list.insert(list.end(),
              {{"runtime", runtime}, {"start_module", start_module}, {"start_twice", start_twice}});
}

}  // namespace gable::probe

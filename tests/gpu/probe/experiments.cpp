// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/probe/experiments.h"

#include <cupti_callbacks.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace gable::probe {
namespace {

std::function<void(int)>& on_launch() {
  static auto* one = new std::function<void(int)>;
  return *one;
}

std::function<void(int)>& after_launch() {
  static auto* one = new std::function<void(int)>;
  return *one;
}

std::atomic<int> g_launches = 0, g_modules = 0, g_modules_elsewhere = 0;
thread_local int t_launch = 0;
std::thread::id g_home;

void CUPTIAPI called(void*, CUpti_CallbackDomain domain, CUpti_CallbackId, const void* data) {
  if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
    ++g_modules;
    g_modules_elsewhere += std::this_thread::get_id() == g_home ? 0 : 1;
    return;
  }
  const auto* call = static_cast<const CUpti_CallbackData*>(data);
  if (call->callbackSite == CUPTI_API_ENTER) {
    t_launch = g_launches++;
    if (on_launch()) on_launch()(t_launch);
  } else if (after_launch()) {
    after_launch()(t_launch);
  }
}

CUpti_SubscriberHandle subscriber() {
  static CUpti_SubscriberHandle one = nullptr;
  static const bool subscribed =
      told("cuptiSubscribe", cupti().cuptiSubscribe(&one, called, nullptr));
  return subscribed ? one : nullptr;
}

void call_back(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  if (subscriber() != nullptr)
    (void)told("cuptiEnableCallback", cupti().cuptiEnableCallback(1, subscriber(), domain, id));
}

}  // namespace

void observe(const char* what, const Json& fields) {
  Json line;
  line["what"] = what;
  line.update(fields);
  std::printf("%s\n", line.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
  std::fflush(stdout);
}

void answer(bool agrees, const std::string& says, const Json& fields) {
  Json line = {{"says", says}, {"agrees", agrees}};
  line.update(fields);
  line["failed_calls"] = failures().size();
  if (!failures().empty()) line["first_failed_call"] = failures().front();
  observe("answer", line);
}

bool rehearsed() { return std::getenv("GABLE_PLAYBACK") != nullptr; }
int turns(int on_a_gpu, int rehearsed_turns) { return rehearsed() ? rehearsed_turns : on_a_gpu; }

Work::Work() {
  fma_kernel = gpu.kernel(kKernels, "probe_fma");
  out = gpu.memory(std::size_t{4} * (kGrid + kGrids) * kBlock);
}

void Work::fma(int count, CUstream stream) const {
  for (int i = 0; i < count; ++i) gpu.launch(fma_kernel, {kGrid, kBlock, stream}, out, out, kTurns);
}

void Work::numbered(int i, CUstream stream) const {
  gpu.launch(fma_kernel, {grid_of(i), kBlock, stream}, out, out, kTurns);
}

CUdeviceptr Work::large(std::size_t bytes) {
  return gpu.memory(rehearsed() ? std::size_t{1} << 16 : bytes);
}

CUstream Work::stream() {
  CUstream stream = nullptr;
  GABLE_CU(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
  return stream;
}

bool window(Profiler& profiler, const PassPlan& pass, std::size_t ranges,
            const std::function<void()>& launches, std::vector<Profiler::Range>& read,
            CUpti_ProfilerReplayMode replay) {
  if (!profiler.configure(pass, CUPTI_AutoRange, replay, ranges) || !profiler.start()) return false;
  launches();
  GABLE_CU(cuCtxSynchronize);
  if (!profiler.stop() || !profiler.decode()) return false;
  read = profiler.read();
  return true;
}

std::size_t equal(const std::vector<double>& values, double value) {
  return static_cast<std::size_t>(std::count(values.begin(), values.end(), value));
}

std::size_t in_order(const std::vector<double>& ctas) {
  std::size_t right = 0;
  for (std::size_t i = 0; i < ctas.size(); ++i)
    right += ctas[i] == Work::grid_of(static_cast<int>(i)) ? 1 : 0;
  return right;
}

bool same_grids(std::vector<double> ctas, int launches) {
  std::vector<double> expected;
  expected.reserve(static_cast<std::size_t>(launches));
  for (int i = 0; i < launches; ++i) expected.push_back(Work::grid_of(i));
  std::sort(expected.begin(), expected.end());
  std::sort(ctas.begin(), ctas.end());
  return ctas == expected;
}

std::size_t right_by_name(const std::vector<Profiler::Range>& ranges,
                          const std::vector<double>& ctas) {
  std::size_t right = 0;
  for (std::size_t i = 0; i < ranges.size(); ++i)
    right += ctas[i] == Work::grid_of(std::atoi(ranges[i].name.c_str())) ? 1 : 0;
  return right;
}

void follow_launches(std::function<void(int)> each, std::function<void(int)> after) {
  on_launch() = std::move(each);
  after_launch() = std::move(after);
  for (const auto id :
       {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz})
    call_back(CUPTI_CB_DOMAIN_DRIVER_API, id);
}

void follow_modules() {
  g_home = std::this_thread::get_id();
  call_back(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_LOADED);
}

Modules modules_followed() { return {g_modules.exchange(0), g_modules_elsewhere.exchange(0)}; }

int launches_followed() { return g_launches; }

}  // namespace gable::probe

// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/collector/script/run_on_script.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "analysis/builder/report_builder.h"
#include "analysis/profile/range_rows.h"

namespace gable {
namespace {

RunOnScript* run = nullptr;

CUcontext a_context() {
  static int context = 0;
  return reinterpret_cast<CUcontext>(&context);
}

Settings settings_of(const std::string& options, const std::string& path) {
  auto parsed = parse_options(options + " -o " + path);
  if (!parsed.error.empty()) throw std::runtime_error(parsed.error);
  return parsed.settings;
}

// What threads keep is of one run, as a process has one: it is forgotten. The path of the new run's
// report.
std::string begin_run() {
  ThreadRegistry::instance().each([](ThreadState& thread) {
    thread.ring.drain([](const Event&) {});
    thread.spans.take([](const SpanSums::Taken&) {});
    thread.waits.take([](const SpanSums::Taken&) {});
    thread.waited_in = kNoWindow;
    thread.functions = {};
    thread.context = {};
    thread.steps = {};
    thread.followed = 0;
    thread.ranges = {};
    thread.capture = {};
    thread.call = {};
  });
  static int runs = 0;
  return std::filesystem::temp_directory_path() /
         ("gable-run-on-script-" + std::to_string(::getpid()) + "-" + std::to_string(++runs) +
          ".json");
}

PassPlan pass(Phase phase, std::vector<std::string> metrics) {
  PassPlan pass;
  pass.phase = phase;
  pass.metrics = std::move(metrics);
  pass.config_image.assign(64, 1);
  return pass;
}

MetricPlan a_plan() {
  MetricPlan plan;
  plan.chip = "gh100";
  plan.passes.push_back(
      pass({PhaseKind::hw, 0}, {"dram__sectors_read.sum", "sm__ctas_launched.sum"}));
  plan.passes.push_back(
      pass({PhaseKind::flops, 0}, {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"}));
  return plan;
}

std::string joined(const std::vector<std::string>& path) {
  std::string text;
  for (const auto& name : path) text += (text.empty() ? "" : "/") + name;
  return text;
}

}  // namespace

struct RunCalls {
  static CUptiResult CUPTIAPI timestamp(std::uint64_t* ns) {
    *ns = run->clock_ns += 1000;
    return CUPTI_SUCCESS;
  }
  static CUptiResult CUPTIAPI device(CUcontext, std::uint32_t* id) {
    *id = 0;
    return run->cupti.ask("cuptiGetDeviceId");
  }
  static CUptiResult CUPTIAPI subscribe(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc, void*) {
    *handle = nullptr;
    return run->cupti.ask("cuptiSubscribe");
  }
  static CUptiResult CUPTIAPI unsubscribe(CUpti_SubscriberHandle) {
    return run->cupti.ask("cuptiUnsubscribe");
  }
  static CUptiResult CUPTIAPI enable_callback(std::uint32_t, CUpti_SubscriberHandle,
                                              CUpti_CallbackDomain, CUpti_CallbackId) {
    return CUPTI_SUCCESS;
  }
  static CUptiResult CUPTIAPI register_callbacks(CUpti_BuffersCallbackRequestFunc request,
                                                 CUpti_BuffersCallbackCompleteFunc complete) {
    run->request_ = request;
    run->complete_ = complete;
    return CUPTI_SUCCESS;
  }
  static CUptiResult CUPTIAPI enable(CUpti_ActivityKind kind) {
    const auto code = run->cupti.ask("cuptiActivityEnable");
    if (code == CUPTI_SUCCESS && kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
      run->recording_ = true;
    return code;
  }
  static CUptiResult CUPTIAPI disable(CUpti_ActivityKind kind) {
    if (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) run->recording_ = false;
    return CUPTI_SUCCESS;
  }
  static CUptiResult CUPTIAPI flush(std::uint32_t) {
    run->hand_out_records();
    return CUPTI_SUCCESS;
  }
  static CUptiResult CUPTIAPI next(std::uint8_t* buffer, std::size_t valid,
                                   CUpti_Activity** record) {
    auto* at = *record == nullptr
                   ? buffer
                   : reinterpret_cast<std::uint8_t*>(*record) + sizeof(CUpti_ActivityKernel9);
    if (at + sizeof(CUpti_ActivityKernel9) > buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = reinterpret_cast<CUpti_Activity*>(at);
    return CUPTI_SUCCESS;
  }
  static CUptiResult CUPTIAPI dropped(CUcontext, std::uint32_t, std::size_t* count) {
    *count = 0;
    return CUPTI_SUCCESS;
  }
  // The handles of graphs and nodes are their ids.
  template <typename Thing, typename Id>
  static CUptiResult CUPTIAPI id_of(Thing thing, Id* id) {
    *id = static_cast<Id>(reinterpret_cast<std::uintptr_t>(thing));
    return CUPTI_SUCCESS;
  }
};

CuptiApi RunOnScript::api() {
  CuptiApi api = cupti.api();
  api.cuptiGetTimestamp = RunCalls::timestamp;
  api.cuptiGetDeviceId = RunCalls::device;
  api.cuptiSubscribe = RunCalls::subscribe;
  api.cuptiUnsubscribe = RunCalls::unsubscribe;
  api.cuptiEnableCallback = RunCalls::enable_callback;
  api.cuptiActivityRegisterCallbacks = RunCalls::register_callbacks;
  api.cuptiActivityEnable = RunCalls::enable;
  api.cuptiActivityDisable = RunCalls::disable;
  api.cuptiActivityFlushAll = RunCalls::flush;
  api.cuptiActivityGetNextRecord = RunCalls::next;
  api.cuptiActivityGetNumDroppedRecords = RunCalls::dropped;
  api.cuptiGetGraphId = RunCalls::id_of<CUgraph, std::uint32_t>;
  api.cuptiGetGraphExecId = RunCalls::id_of<CUgraphExec, std::uint32_t>;
  api.cuptiGetGraphNodeId = RunCalls::id_of<CUgraphNode, std::uint64_t>;
  return api;
}

Windows::Hooks RunOnScript::hooks() {
  Windows::Hooks hooks;
  hooks.wait_for_plan = hooks.known_plan = [this] { return &plan; };
  hooks.over = [this] { over_ = true; };
  hooks.records_wanted = [] {};
  hooks.records_now = [this] { records.collect(); };
  hooks.counted = [this](const LaunchKey& key) { return c.filter.wanted(key); };
  return hooks;
}

// The flusher's thread never ends, so its object stays.
RunOnScript::RunOnScript(const std::string& options)
    : report_path_(begin_run()),
      rt(settings_of(options, report_path_), {}),
      plan(a_plan()),
      c(rt, api(), hooks()),
      subscription(c.api),
      records(c),
      reports(c, records),
      planner(
          c, [] {}, [] { return false; }),
      flusher(*new Flusher(c.api, c.activity, [] { return false; })),
      callbacks(c, planner, reports.output(), flusher),
      ending(c, subscription, planner, records, reports, flusher, {[] {}, [] { return false; }}) {
  run = this;
  cupti.value = [](const std::string& metric, std::size_t) {
    return metric == "sm__ctas_launched.sum" ? 1.0 : 100.0;
  };
  names_.reserve(256);
  c.sink.with_profile([this](Profile& profile) {
    DeviceInfo device;
    device.name = "a GPU";
    profile.add_device(device);
    for (const auto& one : plan.passes) profile.set_metrics(one.phase, one.metrics);
  });
  if (!flusher.start()) throw std::runtime_error("no thread");
  rt.ranges.set_listener(&c.windows);
  planner.leave_out();
  rt.hot.watching.store(true);
}

RunOnScript::~RunOnScript() {
  std::remove(report_path_.c_str());
  run = nullptr;
}

void RunOnScript::call(CUpti_CallbackId id, CUpti_ApiCallbackSite site, const void* parameters) {
  CUpti_CallbackData data{};
  data.callbackSite = site;
  data.functionParams = parameters;
  data.context = a_context();
  data.contextUid = 1;
  data.correlationId = ++correlation_;
  Callbacks::entry(&callbacks, CUPTI_CB_DOMAIN_DRIVER_API, id, &data);
}

void RunOnScript::resource(CUpti_CallbackIdResource id, const void* descriptor) {
  CUpti_ResourceData data{};
  data.context = a_context();
  data.resourceDescriptor = const_cast<void*>(descriptor);
  Callbacks::entry(&callbacks, CUPTI_CB_DOMAIN_RESOURCE, static_cast<CUpti_CallbackId>(id), &data);
}

void RunOnScript::enter_launch(const std::string& kernel, std::uint32_t blocks) {
  auto known = std::find(names_.begin(), names_.end(), kernel);
  if (known == names_.end()) known = names_.insert(names_.end(), kernel);
  parameters_ = {};
  parameters_.f = reinterpret_cast<CUfunction>(&*known);
  parameters_.gridDimX = blocks;
  parameters_.gridDimY = parameters_.gridDimZ = 1;
  parameters_.blockDimX = 32;
  parameters_.blockDimY = parameters_.blockDimZ = 1;
  launch_ = {};
  launch_.callbackSite = CUPTI_API_ENTER;
  launch_.functionParams = &parameters_;
  launch_.symbolName = known->c_str();
  launch_.context = a_context();
  launch_.contextUid = 1;
  launch_.correlationId = ++correlation_;
  Callbacks::entry(&callbacks, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
                   &launch_);
}

void RunOnScript::exit_launch(CUresult result) {
  if (result == CUDA_SUCCESS) {
    cupti.kernel();
    if (recording_)
      pending_.push_back(
          {launch_.correlationId, clock_ns, clock_ns + kernel_ns, launch_.symbolName});
    clock_ns += kernel_ns;
  }
  launch_.callbackSite = CUPTI_API_EXIT;
  launch_.functionReturnValue = &result;
  Callbacks::entry(&callbacks, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
                   &launch_);
}

void RunOnScript::launch(const std::string& kernel, std::uint32_t blocks) {
  enter_launch(kernel, blocks);
  exit_launch();
}

void RunOnScript::step(const std::vector<std::string>& kernels) {
  for (const auto& kernel : kernels) launch(kernel);
  c.windows.step_point();
}

void RunOnScript::push(const std::string& range) {
  auto& thread = this_thread();
  rt.ranges.push(thread.ranges, rt.ranges.domain(""), range, Direction::none,
                 rt.hot.span_window.load(), 0);
}

void RunOnScript::pop() { (void)rt.ranges.pop(this_thread().ranges, rt.ranges.domain("")); }

void RunOnScript::hand_out_records() {
  if (request_ == nullptr || pending_.empty()) return;
  std::uint8_t* buffer = nullptr;
  std::size_t size = 0, most = 0, used = 0;
  request_(&buffer, &size, &most);
  for (const auto& pending : pending_) {
    CUpti_ActivityKernel9 record{};
    record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    record.start = pending.start_ns;
    record.end = pending.end_ns;
    record.correlationId = pending.correlation;
    if (used + sizeof record > size) throw std::runtime_error("too many records for one buffer");
    std::memcpy(buffer + used, &record, sizeof record);
    used += sizeof record;
  }
  pending_.clear();
  complete_(nullptr, 0, buffer, size, used);
}

Report RunOnScript::report() {
  hand_out_records();
  records.collect();
  RunInfo base;
  const auto counts = c.windows.counts();
  base.unit = c.windows.steps_known() ? Unit::step : Unit::run;
  base.steps.seen = counts.seen;
  base.notes = rt.notes.all();
  return c.sink.with_profile([&](Profile& profile) { return build_report(profile, base); });
}

KernelRow RunOnScript::kernel(const std::string& symbol) {
  for (auto& row : report().kernels)
    if (row.symbol == symbol) return row;
  return {};
}

std::string RunOnScript::layer_of(const KernelRow& row) {
  for (const auto& layer : report().layers)
    if (layer.id == row.layer) return joined(layer.path);
  return "?";
}

bool RunOnScript::said(const std::string& part) {
  for (const auto& sentence : rt.notes.all())
    if (sentence.find(part) != std::string::npos) return true;
  return false;
}

}  // namespace gable

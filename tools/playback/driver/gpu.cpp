// SPDX-License-Identifier: Apache-2.0
#include "tools/playback/driver/gpu.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string_view>

#include "analysis/events/quantities.h"

namespace gable::playback {
namespace {

[[noreturn]] void refuse(std::string error) {
  // Names in recordings are anybody's: a terminal must not obey them.
  for (char& c : error)
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) c = '?';
  std::fprintf(stderr, "playback: %s\n", error.c_str());
  std::_Exit(2);
}

// GABLE_PLAYBACK_SWITCHES="name=value,…"
void read_switches(Control& control) {
  const char* text = std::getenv("GABLE_PLAYBACK_SWITCHES");
  std::stringstream all(text == nullptr ? "" : text);
  for (std::string pair; std::getline(all, pair, ',');) {
    const std::size_t middle = pair.find('=');
    if (middle == std::string::npos)
      refuse("GABLE_PLAYBACK_SWITCHES must be name=value,name=value.");
    control.set_switch(pair.substr(0, middle), pair.substr(middle + 1));
  }
}

// GABLE_PLAYBACK_FAULTS: a file of fault and switch lines, or such lines themselves.
void read_faults(Control& control) {
  const char* text = std::getenv("GABLE_PLAYBACK_FAULTS");
  if (text == nullptr || *text == '\0') return;
  std::string lines = text, name = "GABLE_PLAYBACK_FAULTS";
  if (lines.find('{') == std::string::npos) {
    name = lines;
    std::ifstream file(name);
    if (!file) refuse(name + ": the list of faults cannot be opened.");
    lines.assign(std::istreambuf_iterator<char>(file), {});
  }
  std::vector<RecordedFault> faults;
  std::map<std::string, std::string> switches;
  const std::string error = parse_faults(lines, name, faults, switches);
  if (!error.empty()) refuse(error);
  for (const RecordedFault& fault : faults) control.add(fault);
  for (const auto& [key, value] : switches) control.set_switch(key, value);
}

// A handle of a module that was unloaded is used again, for whatever kernel comes first.
std::unique_ptr<Function> unloaded_function(Context& context) {
  for (const auto& module : context.modules) {
    if (module->alive || module->functions.empty()) continue;
    auto first = module->functions.extract(module->functions.begin());
    return std::move(first.mapped());
  }
  return nullptr;
}

}  // namespace

ThreadState& thread_state() {
  thread_local ThreadState state;
  return state;
}

Gpu& Gpu::get() {
  static Gpu* gpu = new Gpu;
  return *gpu;
}

Gpu::Gpu() {
  const char* path = std::getenv("GABLE_PLAYBACK");
  if (path == nullptr || *path == '\0') {
    recording_ = std::make_unique<Recording>();
    recording_->origin = "hand-written";
    recording_->devices.push_back(default_device());
  } else {
    RecordingResult result = read_recording(path);
    if (result.recording == nullptr) refuse(result.error);
    recording_ = std::move(result.recording);
  }
  for (std::size_t i = 0; i < recording_->initial_faults; ++i) control_.add(recording_->faults[i]);
  for (const auto& [name, value] : recording_->switches) control_.set_switch(name, value);
  read_switches(control_);
  read_faults(control_);
  for (const RecordedKernel& kernel : recording_->kernels) by_name_[kernel.name].push_back(&kernel);
  primary.resize(recording_->devices.size());
}

void Gpu::wait_until(std::uint64_t when) {
  std::uint64_t now = clock_.load(std::memory_order_acquire);
  while (now < when && !clock_.compare_exchange_weak(now, when, std::memory_order_acq_rel)) {
  }
}

Context* Gpu::context_of(CUcontext handle) {
  const std::lock_guard<std::mutex> lock(mutex);
  for (const auto& context : contexts) {
    if (context.get() == reinterpret_cast<Context*>(handle))
      return context->alive ? context.get() : nullptr;
  }
  return nullptr;
}

bool Gpu::was_context(CUcontext handle) {
  const std::lock_guard<std::mutex> lock(mutex);
  return std::any_of(contexts.begin(), contexts.end(), [&](const auto& context) {
    return context.get() == reinterpret_cast<Context*>(handle) && !context->alive;
  });
}

bool Gpu::any_context() {
  const std::lock_guard<std::mutex> lock(mutex);
  return !contexts.empty();
}

Context* Gpu::create_context(int device, bool is_primary) {
  auto context = std::make_unique<Context>();
  Context* made = context.get();
  const std::lock_guard<std::mutex> lock(mutex);
  made->uid = next_uid++;
  made->device = device;
  made->primary = is_primary;
  made->default_stream.context = made;
  contexts.push_back(std::move(context));
  if (is_primary) primary[static_cast<std::size_t>(device)] = made;
  return made;
}

Stream* Gpu::create_stream(Context* context, bool non_blocking) {
  auto stream = std::make_unique<Stream>();
  Stream* made = stream.get();
  const std::lock_guard<std::mutex> lock(mutex);
  made->context = context;
  made->id = next_stream++;
  made->non_blocking = non_blocking;
  context->streams.push_back(std::move(stream));
  return made;
}

Module* Gpu::create_module(Context* context) {
  auto module = std::make_unique<Module>();
  Module* made = module.get();
  const std::lock_guard<std::mutex> lock(mutex);
  made->context = context;
  made->id = next_module++;
  context->modules.push_back(std::move(module));
  return made;
}

Function* Gpu::function(Module* module, const std::string& name) {
  const std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<Function>& slot = module->functions[name];
  if (slot == nullptr) {
    if (module->context != nullptr) slot = unloaded_function(*module->context);
    if (slot == nullptr) slot = std::make_unique<Function>();
    slot->name = name;
    slot->module = module;
    slot->definitions.clear();
    const auto known = by_name_.find(name);
    if (known != by_name_.end()) slot->definitions = known->second;
  }
  return slot.get();
}

void Gpu::submit(Work& work, Stream& stream) {
  const std::lock_guard<std::mutex> lock(mutex);
  std::uint64_t& slot = stream.ends[stream.submitted++ % Stream::kQueue];
  wait_until(slot);
  work.start_ns = std::max(stream_end(stream), now());
  work.end_ns = work.start_ns + work.duration_ns;
  slot = stream.end_ns = work.end_ns;
  work.stream_id = stream.id;
  work.context = stream.context;
  work.thread = std::this_thread::get_id();
}

std::uint64_t Gpu::stream_end(Stream& stream) {
  Context& context = *stream.context;
  if (stream.non_blocking) return stream.end_ns;
  if (&stream != &context.default_stream)
    return std::max(stream.end_ns, context.default_stream.end_ns);
  std::uint64_t end = stream.end_ns;
  for (const auto& other : context.streams)
    if (!other->non_blocking) end = std::max(end, other->end_ns);
  for (const auto& [thread, other] : context.per_thread) end = std::max(end, other->end_ns);
  return end;
}

std::uint64_t Gpu::context_end(Context& context) {
  const std::lock_guard<std::mutex> lock(mutex);
  std::uint64_t end = context.default_stream.end_ns;
  for (const auto& stream : context.streams) end = std::max(end, stream->end_ns);
  for (const auto& [thread, stream] : context.per_thread) end = std::max(end, stream->end_ns);
  return end;
}

namespace {

bool says_unknown(const RecordedKernel& kernel, std::string_view metric) {
  return std::find(kernel.unknown.begin(), kernel.unknown.end(), metric) != kernel.unknown.end();
}

// Not every metric that CUPTI could be asked for was collected when a run was recorded.
bool was_left_out(const RecordedKernel& kernel, const std::string& metric) {
  const auto& collected = Gpu::get().recording().metrics;
  return (collected && collected->count(metric) == 0) || says_unknown(kernel, "*");
}

}  // namespace

double counter_value(const Work& work, const std::string& metric, const DeviceInfo& device) {
  if (work.counters != nullptr) {
    const auto it = work.counters->find(metric);
    if (it != work.counters->end()) return it->second;
  }
  const bool is_ctas = metric == "sm__ctas_launched.sum";
  if (work.kernel != nullptr) {
    if (says_unknown(*work.kernel, metric)) return std::nan("");
    const auto it = work.kernel->counters.find(metric);
    // Larger work has the ratios of the smaller.
    if (it != work.kernel->counters.end())
      return is_ctas || is_ratio(metric) ? it->second : it->second * work.scale;
    if (!is_ctas && was_left_out(*work.kernel, metric)) return std::nan("");
  }
  const auto duration = static_cast<double>(work.end_ns - work.start_ns);
  if (metric == "gpu__time_duration.sum") return duration;
  if (is_ctas) return static_cast<double>(work.grid.count());
  if (metric == "sm__cycles_elapsed.avg") {
    return counter_value(work, "gpu__time_duration.sum", device) *
           static_cast<double>(device.sm_clock_max_hz) / 1e9;
  }
  return work.kernel == nullptr ? std::nan("") : 0.0;
}

}  // namespace gable::playback

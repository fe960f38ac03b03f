// SPDX-License-Identifier: Apache-2.0
// A library for the player to load: it prints what the player asks of CUDA and NVTX, a line each,
// with the thread (in the order of their first calls) and its current context.
#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>
#undef NVTX_NO_IMPL

#include <cstdarg>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "tools/playback/driver/side.h"

#define GABLE_ENTRY extern "C" __attribute__((visibility("default")))

namespace gable::playback {
namespace {

std::mutex& mutex() {
  static auto& the = *new std::mutex;
  return the;
}

void __attribute__((format(printf, 1, 2))) say(const char* format, ...) {
  static auto& threads = *new std::map<std::thread::id, std::size_t>;
  const std::lock_guard<std::mutex> hold(mutex());
  const auto thread = threads.try_emplace(std::this_thread::get_id(), threads.size());
  const Context* current = gable_playback_thread()->current;
  std::printf("t%zu c%u ", thread.first->second, current == nullptr ? 0 : current->uid);
  va_list values;
  va_start(values, format);
  std::vprintf(format, values);
  va_end(values);
  std::printf("\n");
  std::fflush(stdout);
}

std::string shape(const Dim3& of) {
  return std::to_string(of.x) + "," + std::to_string(of.y) + "," + std::to_string(of.z);
}

class Trace final : public Tools {
 public:
  void enter(ApiCall& call) override { say("%s", call.name); }
  void exit(ApiCall&) override {}
  void resource(ResourceEvent event, Context* context, Stream* stream, Module* module) override {
    if (event == ResourceEvent::context_created)
      say("+ context %u on device %d", context->uid, context->device);
    if (event == ResourceEvent::context_destroy) say("- context %u", context->uid);
    if (event == ResourceEvent::stream_created)
      say("+ stream %u%s", stream->id, stream->non_blocking ? "" : ", blocking");
    if (event == ResourceEvent::module_loaded) say("+ module %u", module->id);
    if (event == ResourceEvent::module_unload) say("- module %u", module->id);
  }
  void graph(GraphEvent event, const GraphChange& change) override {
    if (event == GraphEvent::exec_created)
      say("+ exec %u of %zu", change.exec->id, change.graph->nodes.size());
    if (event == GraphEvent::exec_destroy) say("- exec %u", change.exec->id);
    if (event == GraphEvent::destroy) say("- graph %u", change.graph->id);
  }
  void submitted(const Work& work) override {
    const auto from = work.start_ns - Gpu::kEpoch;
    const std::string where = "at " + std::to_string(from) + " for " +
                              std::to_string(work.duration_ns) + " on " +
                              std::to_string(work.stream_id) +
                              (work.graph != 0 ? " of exec " + std::to_string(work.graph) : "");
    if (work.kind != Work::Kind::kernel) {
      say("> %s %d of %lu bytes, host %d, %s", work.kind == Work::Kind::copy ? "copy" : "memset",
          static_cast<int>(work.copy), static_cast<unsigned long>(work.bytes),
          static_cast<int>(work.host), where.c_str());
      return;
    }
    say("> %s %s %s %s shared %u%s scale %g counters %zu %s", work.function->name.c_str(),
        shape(work.grid).c_str(), shape(work.block).c_str(), shape(work.cluster).c_str(),
        work.dynamic_shared, work.cooperative ? " cooperative" : "", work.scale,
        work.counters == nullptr ? 0 : work.counters->size(), where.c_str());
  }
  void captured(const Work& work) override { say("> captured %s", work.function->name.c_str()); }
  void context_gone(Context*) override {}
};

// A domain's handle is its name, which lives as long as the process.
const char* name_of(nvtxDomainHandle_t domain) {
  return domain == nullptr ? "default" : reinterpret_cast<const char*>(domain);
}

nvtxDomainHandle_t NVTX_API create(const char* name) {
  say("domain %s", name);
  return reinterpret_cast<nvtxDomainHandle_t>((new std::string(name))->data());
}
int NVTX_API push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  say("push %s in %s, category %u%s", event->message.ascii, name_of(domain), event->category,
      event->version == NVTX_VERSION && event->size == NVTX_EVENT_ATTRIB_STRUCT_SIZE &&
              event->messageType == NVTX_MESSAGE_TYPE_ASCII
          ? ""
          : ", not well-formed");
  return 0;
}
int NVTX_API pop(nvtxDomainHandle_t domain) {
  say("pop in %s", name_of(domain));
  return 0;
}
nvtxRangeId_t NVTX_API start(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  static nvtxRangeId_t number = 0;
  say("start %lu: %s in %s, category %u", static_cast<unsigned long>(++number),
      event->message.ascii, name_of(domain), event->category);
  return number;
}
void NVTX_API end(nvtxDomainHandle_t domain, nvtxRangeId_t range) {
  say("end %lu in %s", static_cast<unsigned long>(range), name_of(domain));
}

// The player's own atexit handlers do not come before.
__attribute__((destructor)) void tell_the_time() {
  std::printf("ends at %lu\n",
              static_cast<unsigned long>(gable_playback_gpu()->now() - Gpu::kEpoch));
  std::fflush(stdout);
}

}  // namespace
}  // namespace gable::playback

GABLE_ENTRY int InitializeInjection(void) {
  auto* gpu = gable_playback_gpu();
  gpu->tools.store(new gable::playback::Trace);
  for (auto& wanted : gpu->wanted) wanted.store(true);
  return 1;
}

GABLE_ENTRY int InitializeInjectionNvtx2(const void* (*get_export_table)(std::uint32_t)) {
  using namespace gable::playback;
  const auto* callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_export_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) == 0) return 0;
  const auto fill = [table](unsigned place, auto function) {
    *table[place] = reinterpret_cast<NvtxFunctionPointer>(function);
  };
  fill(NVTX_CBID_CORE2_DomainCreateA, create);
  fill(NVTX_CBID_CORE2_DomainRangePushEx, push);
  fill(NVTX_CBID_CORE2_DomainRangePop, pop);
  fill(NVTX_CBID_CORE2_DomainRangeStartEx, start);
  fill(NVTX_CBID_CORE2_DomainRangeEnd, end);
  return 1;
}

GABLE_ENTRY void gable_step(void) { gable::playback::say("step"); }

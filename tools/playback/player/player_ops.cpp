// SPDX-License-Identifier: Apache-2.0
#include <cuda.h>
#include <dlfcn.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "tools/playback/driver/side.h"
#include "tools/playback/player/player.h"

extern "C" {  // from cudaProfiler.h, which is in a wheel of its own
CUresult CUDAAPI cuProfilerStart(void);
CUresult CUDAAPI cuProfilerStop(void);
}

namespace gable::playback {
namespace {

// Domains of the ranges that are open on this thread, so that a pop without a domain closes the
// innermost one.
std::vector<nvtxDomainHandle_t>& open_ranges() {
  thread_local std::vector<nvtxDomainHandle_t> open;
  return open;
}

nvtxEventAttributes_t attributes(const RecordedOp& op) {
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = op.name.c_str();
  event.category = static_cast<std::uint32_t>(op.direction);  // forward 1, backward 2, recompute 3
  return event;
}

}  // namespace

void check(CUresult result, const RecordedOp& op, const char* call) {
  if (result == CUDA_SUCCESS) return;
  const char* name = "?";
  cuGetErrorName(result, &name);
  std::fprintf(stderr, "gable-player: line %u: %s answered %s.\n", op.line, call, name);
  std::_Exit(2);
}

void Performer::perform(const RecordedOp& op) {
  switch (op.kind) {
    case OpKind::push:
      push(op);
      break;
    case OpKind::pop:
      pop(op);
      break;
    case OpKind::start: {
      const nvtxEventAttributes_t event = attributes(op);
      const nvtxDomainHandle_t where =
          domain(op.direction == Direction::none ? op.domain : "gable");
      started_[op.id] = {where, nvtxDomainRangeStartEx(where, &event)};
      break;
    }
    case OpKind::end: {
      const auto it = started_.find(op.id);
      if (it == started_.end()) break;
      nvtxDomainRangeEnd(it->second.first, it->second.second);
      started_.erase(it);
      break;
    }
    case OpKind::launch:
      launch(op);
      break;
    case OpKind::graph_launch:
      graph_launch(op);
      break;
    case OpKind::copy:
      copy(op);
      break;
    case OpKind::sync: {
      PlayedContext& context = enter_context(op);
      if (op.whole_context) {
        check(cuCtxSynchronize(), op, "cuCtxSynchronize");
      } else if (op.id != 0) {
        check(cuEventSynchronize(event(op)), op, "cuEventSynchronize");
      } else {
        check(cuStreamSynchronize(stream(context, op.stream)), op, "cuStreamSynchronize");
      }
      break;
    }
    case OpKind::event_record: {
      CUstream where = stream(enter_context(op), op.stream);
      check(cuEventRecord(event(op), where), op, "cuEventRecord");
      break;
    }
    case OpKind::stream_wait: {
      CUstream where = stream(enter_context(op), op.stream);
      check(cuStreamWaitEvent(where, event(op), 0), op, "cuStreamWaitEvent");
      break;
    }
    case OpKind::idle:
      gable_playback_gpu()->advance(op.amount);
      break;
    case OpKind::sleep:
      std::this_thread::sleep_for(std::chrono::milliseconds(op.amount));
      break;
    case OpKind::gable_step:
      step();
      break;
    case OpKind::profiler_start:
      initialize();
      check(cuProfilerStart(), op, "cuProfilerStart");
      break;
    case OpKind::profiler_stop:
      initialize();
      check(cuProfilerStop(), op, "cuProfilerStop");
      break;
    case OpKind::load_module: {
      // Kernels that were not launched before come out of it; all do where the old one is unloaded.
      PlayedContext& context = enter_context(op);
      if (op.update) {
        check(cuModuleUnload(context.module), op, "cuModuleUnload");
        context.functions.clear();
      }
      check(cuModuleLoadData(&context.module, ""), op, "cuModuleLoadData");
      break;
    }
    case OpKind::context: {
      initialize();
      PlayedContext& context = contexts_[op.context];
#if CUDA_VERSION >= 13000
      check(cuCtxCreate(&context.handle, nullptr, 0, op.device), op, "cuCtxCreate");
#else
      check(cuCtxCreate(&context.handle, 0, op.device), op, "cuCtxCreate");
#endif
      break;
    }
    case OpKind::destroy_context: {
      const auto it = contexts_.find(op.context);
      if (it == contexts_.end()) break;
      if (op.context == 0) {
        check(cuDevicePrimaryCtxRelease(0), op, "cuDevicePrimaryCtxRelease");
      } else {
        check(cuCtxDestroy(it->second.handle), op, "cuCtxDestroy");
      }
      contexts_.erase(it);
      break;
    }
    case OpKind::capture_begin:
      check(
          cuStreamBeginCapture(stream(enter_context(op), op.stream), CU_STREAM_CAPTURE_MODE_GLOBAL),
          op, "cuStreamBeginCapture");
      break;
    case OpKind::capture_end:
      capture_end(op);
      break;
    case OpKind::graph_destroy:
      if (const auto it = graphs_.find(op.id); it != graphs_.end()) {
        check(cuGraphExecDestroy(it->second), op, "cuGraphExecDestroy");
        graphs_.erase(it);
      }
      break;
    case OpKind::print:
      std::fwrite(op.name.data(), 1, op.name.size(), stdout);
      std::fflush(stdout);
      break;
    case OpKind::exit:
      end(op);
      break;
    case OpKind::fault:
      gable_playback_gpu()->control().add(recording_.faults[op.index]);
      break;
    case OpKind::set_switch:
      gable_playback_gpu()->control().set_switch(op.name, op.value);
      break;
    case OpKind::play:
      break;  // the caller's
  }
}

void Performer::finish() {
  for (auto& [number, context] : contexts_) {
    if (context.handle != nullptr && cuCtxSetCurrent(context.handle) == CUDA_SUCCESS)
      cuCtxSynchronize();
  }
}

void Performer::initialize() {
  if (initialized_) return;
  initialized_ = true;
  const CUresult result = cuInit(0);
  if (result == CUDA_SUCCESS) return;
  std::fprintf(stderr, "gable-player: cuInit answered %d.\n", static_cast<int>(result));
  std::_Exit(2);
}

Performer::PlayedContext& Performer::enter_context(const RecordedOp& op) {
  initialize();
  auto it = contexts_.find(op.context);
  if (it == contexts_.end()) {
    if (op.context != 0) {
      std::fprintf(stderr, "gable-player: line %u: context %u does not exist.\n", op.line,
                   op.context);
      std::_Exit(2);
    }
    it = contexts_.emplace(0, PlayedContext{}).first;
    check(cuDevicePrimaryCtxRetain(&it->second.handle, 0), op, "cuDevicePrimaryCtxRetain");
  }
  thread_local CUcontext current = nullptr;
  if (current != it->second.handle || gable_playback_thread()->current == nullptr) {
    check(cuCtxSetCurrent(it->second.handle), op, "cuCtxSetCurrent");
    current = it->second.handle;
  }
  if (it->second.module == nullptr)
    check(cuModuleLoadData(&it->second.module, ""), op, "cuModuleLoadData");
  return it->second;
}

CUstream Performer::stream(PlayedContext& context, std::uint32_t number) {
  if (number == 0) return nullptr;
  CUstream& made = context.streams[number];
  if (made == nullptr) cuStreamCreate(&made, CU_STREAM_NON_BLOCKING);
  return made;
}

CUevent Performer::event(const RecordedOp& op) {
  CUevent& made = events_[op.id];
  if (made == nullptr) check(cuEventCreate(&made, CU_EVENT_DISABLE_TIMING), op, "cuEventCreate");
  return made;
}

nvtxDomainHandle_t Performer::domain(const std::string& name) {
  if (name.empty()) return nullptr;
  nvtxDomainHandle_t& made = domains_[name];
  if (made == nullptr) made = nvtxDomainCreateA(name.c_str());
  return made;
}

void Performer::push(const RecordedOp& op) {
  const nvtxEventAttributes_t event = attributes(op);
  const nvtxDomainHandle_t where =
      domain(op.direction == Direction::none || op.has_domain ? op.domain : "gable");
  nvtxDomainRangePushEx(where, &event);
  open_ranges().push_back(where);
}

void Performer::pop(const RecordedOp& op) {
  auto& open = open_ranges();
  nvtxDomainHandle_t where = domain(op.domain);
  if (!op.has_domain && !open.empty()) where = open.back();
  for (auto it = open.rbegin(); it != open.rend(); ++it) {
    if (*it != where) continue;
    open.erase(std::next(it).base());
    break;
  }
  nvtxDomainRangePop(where);
}

// A program that knows Gable finds this call in the library that was injected; without one it does
// nothing.
void Performer::step() {
  using Step = void (*)();
  void* library = nullptr;
  const char* path = std::getenv("CUDA_INJECTION64_PATH");
  if (path != nullptr && *path != '\0') library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
  auto call =
      reinterpret_cast<Step>(dlsym(library != nullptr ? library : RTLD_DEFAULT, "gable_step"));
  if (library != nullptr) dlclose(library);
  if (call != nullptr) call();
}

void Performer::end(const RecordedOp& op) {
  // Ending a process takes time, in which short kernels finish.
  gable_playback_gpu()->advance(10'000'000);
  if (op.name == "return") {
    ending_ = {true, op.code};
  } else if (op.name == "exit") {
    std::exit(op.code);
  } else if (op.name == "_exit") {
    _exit(op.code);
  } else if (op.name == "quick_exit") {
    std::quick_exit(op.code);
  } else if (op.name == "abort") {
    std::abort();
  } else if (op.name == "throw") {
    throw std::runtime_error("the recording throws here");
  } else {
    raise(op.code == 0 ? SIGTERM : op.code);
  }
}

}  // namespace gable::playback

// SPDX-License-Identifier: Apache-2.0
// Makes Kokkos' regions, kernels and deep copies layers, by Kokkos' interface for tools: Kokkos
// loads this library where KOKKOS_TOOLS_LIBS names it, and `gable profile` does. Where the program
// is not profiled, every call returns at once.
#include <cxxabi.h>

#include <cctype>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "inject/gable.h"

namespace {

// Open regions and deep copies of this thread, which end without a handle.
thread_local std::vector<int> t_open;

// Names as Kokkos gives them, and as people read them; a thread's own.
thread_local std::map<std::string, std::string, std::less<>> t_readable;
constexpr std::size_t kMostReadable = 4096;

std::string type_name(std::string type) {
  std::string tag;
  if (const auto slash = type.rfind('/'); slash != std::string::npos) {  // with the work's tag
    tag = type.substr(slash);
    type.resize(slash);
  }
  int status = -1;
  char* text = abi::__cxa_demangle(type.c_str(), nullptr, nullptr, &status);
  std::string found = (status == 0 && text != nullptr ? text : type) + tag;
  std::free(text);  // NOLINT: that is how __cxa_demangle gives it
  return found;
}

// Kernels without a label have the name of their functor's type, as the compiler writes it. A label
// of two letters, such as 1D, is none.
const char* readable(const char* name) {
  const std::string_view type = name == nullptr ? "" : name;
  const bool mangled = type.size() > 2 && (type[0] == 'Z' || type[0] == 'N' ||
                                           std::isdigit(static_cast<unsigned char>(type[0])) != 0);
  if (!mangled) return type.data();
  const auto known = t_readable.find(type);
  if (known != t_readable.end()) return known->second.c_str();
  if (t_readable.size() >= kMostReadable) return name;
  return t_readable.emplace(type, type_name(name)).first->second.c_str();
}

// Nothing thrown may reach the program: out of memory loses this one layer.
int opened(const char* name) noexcept {
  try {
    return gable_calls_() != nullptr ? gable_range_begin(readable(name)) : -1;
  } catch (...) {
    return -1;
  }
}

void open(const char* kind, const char* name) noexcept {
  try {
    t_open.push_back(-1);
    if (gable_calls_() == nullptr) return;
    std::string both = kind;
    if (name != nullptr && *name != '\0') both += (both.empty() ? "" : " ") + std::string(name);
    t_open.back() = opened(both.c_str());
  } catch (...) {  // no room to remember it
  }
}

void close() noexcept {
  if (t_open.empty()) return;
  if (t_open.back() >= 0) gable_range_end(t_open.back());
  t_open.pop_back();
}

void begin(const char* name, std::uint64_t* handle) noexcept {
  *handle = static_cast<std::uint64_t>(static_cast<std::int64_t>(opened(name)));
}

void end(std::uint64_t handle) noexcept {
  const auto range = static_cast<int>(static_cast<std::int64_t>(handle));
  if (range >= 0) gable_range_end(range);
}

}  // namespace

// As Kokkos declares them (Kokkos_Profiling_C_Interface.h).
extern "C" {

struct Kokkos_Profiling_SpaceHandle {
  char name[64];
};
struct Kokkos_Tools_ToolSettings {
  bool requires_global_fencing;
  bool padding[255];
};

// Without this, Kokkos waits for the GPU before and after every kernel.
void kokkosp_request_tool_settings(std::uint32_t, Kokkos_Tools_ToolSettings* settings) {
  settings->requires_global_fencing = false;
}

void kokkosp_push_profile_region(const char* name) { open("", name); }
void kokkosp_pop_profile_region() { close(); }

void kokkosp_begin_parallel_for(const char* name, std::uint32_t, std::uint64_t* handle) {
  begin(name, handle);
}
void kokkosp_end_parallel_for(std::uint64_t handle) { end(handle); }
void kokkosp_begin_parallel_reduce(const char* name, std::uint32_t, std::uint64_t* handle) {
  begin(name, handle);
}
void kokkosp_end_parallel_reduce(std::uint64_t handle) { end(handle); }
void kokkosp_begin_parallel_scan(const char* name, std::uint32_t, std::uint64_t* handle) {
  begin(name, handle);
}
void kokkosp_end_parallel_scan(std::uint64_t handle) { end(handle); }

void kokkosp_begin_deep_copy(Kokkos_Profiling_SpaceHandle, const char* target, const void*,
                             Kokkos_Profiling_SpaceHandle, const char*, const void*,
                             std::uint64_t) {
  open("deep_copy", target);
}
void kokkosp_end_deep_copy() { close(); }

}  // extern "C"

// SPDX-License-Identifier: Apache-2.0
#include "collector/runtime/nvtx_entry.h"

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCuda.h>
#include <nvtx3/nvToolsExtCudaRt.h>
#undef NVTX_NO_IMPL

#include <atomic>
#include <cstring>
#include <memory>
#include <set>
#include <string>

#include "analysis/base/mutex.h"
#include "collector/runtime/range_calls.h"
#include "collector/runtime/runtime.h"
#include "collector/runtime/wide_text.h"

namespace gable {
namespace {

// Registered strings: a client's handle points to one of the pool's, which never moves and is never
// freed.
struct Strings {
  Mutex mutex;
  std::set<std::string> pool GABLE_GUARDED_BY(mutex);  // node-based: addresses stay
  static constexpr std::size_t kMax = 100000;
};
std::atomic<Strings*> g_strings{nullptr};

// No static of the function's: a process may be forked while one is being made.
Strings& strings() {
  auto* existing = g_strings.load(std::memory_order_acquire);
  if (existing != nullptr) return *existing;
  auto* fresh = new Strings;
  if (g_strings.compare_exchange_strong(existing, fresh, std::memory_order_acq_rel)) return *fresh;
  delete fresh;
  return *existing;
}

DomainId domain_of(nvtxDomainHandle_t handle) {
  return static_cast<DomainId>(reinterpret_cast<std::uintptr_t>(handle) >> 4);
}
nvtxDomainHandle_t handle_of(DomainId id) {
  return reinterpret_cast<nvtxDomainHandle_t>((static_cast<std::uintptr_t>(id) << 4) | 1);
}

std::string_view bounded(const char* text) {
  if (text == nullptr) return {};
  return {text, strnlen(text, RangeNaming::kMaxNameBytes)};
}

nvtxStringHandle_t intern(std::string_view text) {
  auto& all = strings();
  const MutexLock hold(all.mutex);
  if (all.pool.size() >= Strings::kMax) {
    const auto found = all.pool.find(std::string(text));
    // Never destroyed: a range may name it while the process ends.
    static const auto* const other = new std::string("(too many registered strings)");
    return reinterpret_cast<nvtxStringHandle_t>(
        const_cast<std::string*>(found != all.pool.end() ? &*found : other));
  }
  const auto& kept = *all.pool.emplace(text).first;
  return reinterpret_cast<nvtxStringHandle_t>(const_cast<std::string*>(&kept));
}

// What an attribute structure says, whatever kind of message it has. `buffer` holds converted wide
// text.
std::string_view message_of(const nvtxEventAttributes_t* attributes, std::string& buffer) {
  if (attributes == nullptr || attributes->version == 0 ||
      attributes->size < sizeof(nvtxEventAttributes_t))
    return {};
  switch (attributes->messageType) {
    case NVTX_MESSAGE_TYPE_ASCII:
      return bounded(attributes->message.ascii);
    case NVTX_MESSAGE_TYPE_UNICODE:
      buffer = utf8_of(attributes->message.unicode, RangeNaming::kMaxNameBytes);
      return buffer;
    case NVTX_MESSAGE_TYPE_REGISTERED:
      if (attributes->message.registered == nullptr) return {};
      return *reinterpret_cast<const std::string*>(attributes->message.registered);
    default:
      return {};
  }
}

// Ranges of the domain "gable" say their direction by category.
Direction direction_of(DomainId domain, const nvtxEventAttributes_t* attributes) {
  if (domain != RangeTracker::kOwnDomain || attributes == nullptr || attributes->category > 3)
    return Direction::none;
  return static_cast<Direction>(attributes->category);
}

// Runs `call` unless nobody wants to know. Nothing thrown may reach the program: out of memory
// loses this one range.
template <typename Result, typename Call>
Result when_active(Result otherwise, Result failed, Call&& call) {
  if (!ranges_active()) return otherwise;
  try {
    return call();
  } catch (...) {
    return failed;
  }
}

nvtxRangeId_t start(DomainId domain, std::string_view name, Direction direction) {
  return runtime().ranges.start(domain, name, direction);
}

std::string utf8(const wchar_t* text) { return utf8_of(text, RangeNaming::kMaxNameBytes); }

// --- the functions of the tables
constexpr int kOff = NVTX_NO_PUSH_POP_TRACKING, kLost = -1;

int NVTX_API range_push_a(const char* message) {
  return when_active(kOff, kLost, [&] { return push_range(0, bounded(message), Direction::none); });
}
int NVTX_API range_push_w(const wchar_t* message) {
  return when_active(kOff, kLost, [&] { return push_range(0, utf8(message), Direction::none); });
}
int NVTX_API range_push_ex(const nvtxEventAttributes_t* attributes) {
  return when_active(kOff, kLost, [&] {
    std::string buffer;
    return push_range(0, message_of(attributes, buffer), Direction::none);
  });
}
int NVTX_API range_pop() {
  return when_active(kOff, kLost, [] { return pop_range(0); });
}
int NVTX_API domain_push_ex(nvtxDomainHandle_t handle, const nvtxEventAttributes_t* attributes) {
  return when_active(kOff, kLost, [&] {
    std::string buffer;
    const DomainId domain = domain_of(handle);
    return push_range(domain, message_of(attributes, buffer), direction_of(domain, attributes));
  });
}
int NVTX_API domain_pop(nvtxDomainHandle_t handle) {
  return when_active(kOff, kLost, [&] { return pop_range(domain_of(handle)); });
}

constexpr nvtxRangeId_t kNoRange = 0;

nvtxRangeId_t NVTX_API range_start_a(const char* message) {
  return when_active(kNoRange, kNoRange,
                     [&] { return start(0, bounded(message), Direction::none); });
}
nvtxRangeId_t NVTX_API range_start_w(const wchar_t* message) {
  return when_active(kNoRange, kNoRange, [&] { return start(0, utf8(message), Direction::none); });
}
nvtxRangeId_t NVTX_API range_start_ex(const nvtxEventAttributes_t* attributes) {
  return when_active(kNoRange, kNoRange, [&] {
    std::string buffer;
    return start(0, message_of(attributes, buffer), Direction::none);
  });
}
nvtxRangeId_t NVTX_API domain_start_ex(nvtxDomainHandle_t handle,
                                       const nvtxEventAttributes_t* attributes) {
  return when_active(kNoRange, kNoRange, [&] {
    std::string buffer;
    const DomainId domain = domain_of(handle);
    return start(domain, message_of(attributes, buffer), direction_of(domain, attributes));
  });
}
void NVTX_API range_end(nvtxRangeId_t id) {
  when_active(0, 0, [&] {
    runtime().ranges.end(id);
    return 0;
  });
}
void NVTX_API domain_end(nvtxDomainHandle_t, nvtxRangeId_t id) { range_end(id); }

// Domains and strings are kept also while nobody looks: their handles outlive that.
nvtxDomainHandle_t create_domain(std::string_view name) {
  return handle_of(runtime().ranges.domain(name));
}

nvtxDomainHandle_t NVTX_API domain_create_a(const char* name) {
  try {
    return create_domain(bounded(name));
  } catch (...) {
    return handle_of(0);
  }
}
nvtxDomainHandle_t NVTX_API domain_create_w(const wchar_t* name) {
  try {
    return create_domain(utf8(name));
  } catch (...) {
    return handle_of(0);
  }
}
nvtxStringHandle_t NVTX_API register_string_a(nvtxDomainHandle_t, const char* text) {
  try {
    return intern(bounded(text));
  } catch (...) {
    return nullptr;
  }
}
nvtxStringHandle_t NVTX_API register_string_w(nvtxDomainHandle_t, const wchar_t* text) {
  try {
    return intern(utf8(text));
  } catch (...) {
    return nullptr;
  }
}

template <typename Function>
void fill(NvtxFunctionTable table, unsigned size, unsigned id, Function function) {
  if (id < size && table[id] != nullptr)
    *table[id] = reinterpret_cast<NvtxFunctionPointer>(function);
}

}  // namespace

void forget_strings_in_child() { g_strings.store(nullptr, std::memory_order_release); }

bool attach_nvtx(const void* (*get_export_table)(std::uint32_t)) {
  if (get_export_table == nullptr) return false;
  const auto* callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_export_table(NVTX_ETID_CALLBACKS));
  if (callbacks == nullptr || callbacks->struct_size < sizeof(*callbacks)) return false;
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  bool any = false;
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size) != 0 &&
      table != nullptr) {
    any = true;
    fill(table, size, NVTX_CBID_CORE_RangeStartEx, range_start_ex);
    fill(table, size, NVTX_CBID_CORE_RangeStartA, range_start_a);
    fill(table, size, NVTX_CBID_CORE_RangeStartW, range_start_w);
    fill(table, size, NVTX_CBID_CORE_RangeEnd, range_end);
    fill(table, size, NVTX_CBID_CORE_RangePushEx, range_push_ex);
    fill(table, size, NVTX_CBID_CORE_RangePushA, range_push_a);
    fill(table, size, NVTX_CBID_CORE_RangePushW, range_push_w);
    fill(table, size, NVTX_CBID_CORE_RangePop, range_pop);
  }
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) != 0 &&
      table != nullptr) {
    any = true;
    fill(table, size, NVTX_CBID_CORE2_DomainRangeStartEx, domain_start_ex);
    fill(table, size, NVTX_CBID_CORE2_DomainRangeEnd, domain_end);
    fill(table, size, NVTX_CBID_CORE2_DomainRangePushEx, domain_push_ex);
    fill(table, size, NVTX_CBID_CORE2_DomainRangePop, domain_pop);
    fill(table, size, NVTX_CBID_CORE2_DomainRegisterStringA, register_string_a);
    fill(table, size, NVTX_CBID_CORE2_DomainRegisterStringW, register_string_w);
    fill(table, size, NVTX_CBID_CORE2_DomainCreateA, domain_create_a);
    fill(table, size, NVTX_CBID_CORE2_DomainCreateW, domain_create_w);
  }
  return any;
}

}  // namespace gable

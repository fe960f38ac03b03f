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
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "analysis/base/mutex.h"
#include "collector/options/ranks.h"
#include "collector/runtime/nvtx_schemas.h"
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

std::atomic<NvtxSchemas*> g_schemas{nullptr};
std::atomic<DomainId> g_nccl{0};      // the domain of NCCL's ranges; 0: it has none yet
std::atomic<bool> g_one_node{false};  // all ranks are on this machine

// No static of the function's: a process may be forked while one is being made.
template <typename T>
T& made_once(std::atomic<T*>& made) {
  auto* existing = made.load(std::memory_order_acquire);
  if (existing != nullptr) return *existing;
  auto* fresh = new T;
  if (made.compare_exchange_strong(existing, fresh, std::memory_order_acq_rel)) return *fresh;
  delete fresh;
  return *existing;
}
Strings& strings() { return made_once(g_strings); }
NvtxSchemas& schemas() { return made_once(g_schemas); }

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

// --- NCCL's ranges, whose payloads tell of messages
bool is_nccl(DomainId domain) {
  return domain != 0 && domain == g_nccl.load(std::memory_order_relaxed);
}

void opened_by_nccl(DomainId domain, std::string_view name,
                    const nvtxEventAttributes_t* attributes) {
  constexpr auto kExtended = static_cast<std::int32_t>(0xDFBD0009);  // NVTX_PAYLOAD_TYPE_EXT
  std::optional<CollectiveMessage> message;
  // `reserved0` counts the structures that the payload points to; NCCL has one.
  if (attributes != nullptr && attributes->payloadType == kExtended && attributes->reserved0 > 0 &&
      attributes->payload.ullValue != 0) {
    const auto& payload = *reinterpret_cast<const NvtxPayload*>(attributes->payload.ullValue);
    message = schemas().message(domain, name, payload, g_one_node.load(std::memory_order_relaxed));
    if (!message) schemas().learn_communicator(domain, payload);
  }
  this_thread().ranges.collectives.opened(name, message);
}

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
    const std::string_view name = message_of(attributes, buffer);
    const int depth = push_range(domain, name, direction_of(domain, attributes));
    if (is_nccl(domain)) opened_by_nccl(domain, name, attributes);
    return depth;
  });
}
int pop(DomainId domain) {
  if (is_nccl(domain)) this_thread().ranges.collectives.closed();
  return pop_range(domain);
}
int NVTX_API domain_pop(nvtxDomainHandle_t handle) {
  return when_active(kOff, kLost, [&] { return pop(domain_of(handle)); });
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
  const DomainId id = runtime().ranges.domain(name);
  if (name == "NCCL") g_nccl.store(id, std::memory_order_relaxed);
  return handle_of(id);
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

// --- payloads
// Also while nobody looks: programs register a schema once.
std::uint64_t NVTX_API register_schema(nvtxDomainHandle_t handle, const NvtxPayloadSchema* schema) {
  try {
    return schema != nullptr ? schemas().add(domain_of(handle), *schema) : 0;
  } catch (...) {
    return 0;
  }
}
int NVTX_API push_payload(nvtxDomainHandle_t handle, const NvtxPayload*, std::size_t) {
  return when_active(kOff, kLost,
                     [&] { return push_range(domain_of(handle), {}, Direction::none); });
}
// Also of ranges that began without a payload.
int NVTX_API pop_payload(nvtxDomainHandle_t handle, const NvtxPayload* payload, std::size_t count) {
  return when_active(kOff, kLost, [&] {
    const DomainId domain = domain_of(handle);
    if (is_nccl(domain) && payload != nullptr && count > 0)
      schemas().learn_communicator(domain, *payload);
    return pop(domain);
  });
}
nvtxRangeId_t NVTX_API start_payload(nvtxDomainHandle_t handle, const NvtxPayload*, std::size_t) {
  return when_active(kNoRange, kNoRange,
                     [&] { return start(domain_of(handle), {}, Direction::none); });
}
void NVTX_API end_payload(nvtxDomainHandle_t, nvtxRangeId_t id, const NvtxPayload*, std::size_t) {
  range_end(id);
}

// nvtxExtModuleInfo_t, as nvtxExtTypes.h has it.
struct ExtensionSegment {
  std::size_t id, slot_count;
  std::intptr_t* slots;
};
struct ExtensionModule {
  std::uint16_t nvtx_version, struct_size, module, compatibility;
  std::size_t segment_count;
  ExtensionSegment* segments;
};

template <typename Function>
void fill(NvtxFunctionTable table, unsigned size, unsigned id, Function function) {
  if (id < size && table[id] != nullptr)
    *table[id] = reinterpret_cast<NvtxFunctionPointer>(function);
}

}  // namespace

bool attach_nvtx_payloads(void* module_info) {
  constexpr std::uint16_t kPayloads = 2;  // NVTX_EXT_PAYLOAD_MODULEID
  // Their places: NVTX3EXT_CBID_….
  const std::pair<std::size_t, std::intptr_t> functions[] = {
      {0, reinterpret_cast<std::intptr_t>(register_schema)},
      {3, reinterpret_cast<std::intptr_t>(push_payload)},
      {4, reinterpret_cast<std::intptr_t>(pop_payload)},
      {5, reinterpret_cast<std::intptr_t>(start_payload)},
      {6, reinterpret_cast<std::intptr_t>(end_payload)},
  };
  const auto* module = static_cast<const ExtensionModule*>(module_info);
  if (module == nullptr || module->struct_size < sizeof *module || module->module != kPayloads ||
      module->segment_count == 0 || module->segments == nullptr)
    return false;
  const ExtensionSegment& segment = module->segments[0];
  if (segment.slots == nullptr) return false;
  // NVTX has just read the environment on this thread, too.
  g_one_node.store(told_one_node(), std::memory_order_relaxed);
  for (const auto& [place, function] : functions)
    if (place < segment.slot_count) segment.slots[place] = function;
  return true;
}

void forget_strings_in_child() {
  g_strings.store(nullptr, std::memory_order_release);
  g_schemas.store(nullptr, std::memory_order_release);
}

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

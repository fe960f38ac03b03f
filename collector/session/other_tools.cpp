// SPDX-License-Identifier: Apache-2.0
// An import is a pointer in the object's global offset table. The tables are written as the loader
// writes them, one aligned pointer at a time, inside dl_iterate_phdr, which keeps objects from
// going away meanwhile; pages that the loader made read-only are made so again. What a pointer held
// is kept and called: the function itself, or the loader's stub that is still to look it up.
//
// Nothing in that callback takes a lock or allocates: loaded_objects.h says why.
#include "collector/session/other_tools.h"

#include <dlfcn.h>
#include <elf.h>
#include <limits.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <exception>
#include <string>

#include "collector/cupti/cupti_api.h"
#include "collector/process/loaded_objects.h"
#include "collector/runtime/runtime.h"
#include "collector/session/session.h"

namespace gable {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kSlotTypes[] = {R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT, R_X86_64_64};
#elif defined(__aarch64__)
constexpr std::uint32_t kSlotTypes[] = {R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT, R_AARCH64_ABS64};
#else
constexpr std::uint32_t kSlotTypes[] = {0xffffffff};  // none: other tools are not seen
#endif

// What the imports held before; objects of one process nearly always mean the same function.
std::atomic<void*> g_subscribe{nullptr}, g_subscribe_v2{nullptr};
std::atomic<unsigned long long> g_seen{0};  // objects ever loaded, when we last looked

// The file that code lies in, without its folder.
std::string object_of(const void* code) {
  std::array<char, 256> name{};
  return object_at(code, name.data(), name.size()) ? name.data() : "a tool";
}

void leave(const void* caller) {
  try {
    if (auto* session = runtime().session.load(std::memory_order_acquire))
      session->leave_to(object_of(caller));
  } catch (const std::exception&) {
    return;  // the other tool is refused, as it is where we do not see it
  }
}

CUptiResult CUPTIAPI subscribe(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback,
                               void* data) {
  leave(__builtin_return_address(0));
  using Call = CUptiResult(CUPTIAPI*)(CUpti_SubscriberHandle*, CUpti_CallbackFunc, void*);
  return reinterpret_cast<Call>(g_subscribe.load(std::memory_order_acquire))(handle, callback,
                                                                             data);
}

CUptiResult CUPTIAPI subscribe_v2(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback,
                                  void* data, void* params) {
  leave(__builtin_return_address(0));
  using Call = CUptiResult(CUPTIAPI*)(CUpti_SubscriberHandle*, CUpti_CallbackFunc, void*, void*);
  return reinterpret_cast<Call>(g_subscribe_v2.load(std::memory_order_acquire))(handle, callback,
                                                                                data, params);
}

struct Hook {
  const char* name;
  void* ours;
  std::atomic<void*>& before;
};
const Hook kHooks[] = {
    {"cuptiSubscribe", reinterpret_cast<void*>(&subscribe), g_subscribe},
    {"cuptiSubscribe_v2", reinterpret_cast<void*>(&subscribe_v2), g_subscribe_v2},
};

// An object's tables, as its dynamic section names them.
struct Object {
  ElfW(Addr) base = 0;
  ElfW(Addr) relro_begin = 0, relro_end = 0;
  const ElfW(Sym) * symbols = nullptr;
  const char* strings = nullptr;
  const ElfW(Rela) * tables[2] = {};
  std::size_t sizes[2] = {};
};

Object read_object(const dl_phdr_info& info) {
  Object object;
  object.base = info.dlpi_addr;
  const ElfW(Dyn)* dynamic = nullptr;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const auto& header = info.dlpi_phdr[i];
    const auto begin = info.dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_DYNAMIC) dynamic = reinterpret_cast<const ElfW(Dyn)*>(begin);
    if (header.p_type == PT_GNU_RELRO) {
      object.relro_begin = begin;
      object.relro_end = begin + header.p_memsz;
    }
  }
  // glibc has made these addresses absolute, except in the kernel's own object.
  for (; dynamic != nullptr && dynamic->d_tag != DT_NULL; ++dynamic) {
    const auto address = dynamic->d_un.d_ptr;
    if (dynamic->d_tag == DT_SYMTAB) object.symbols = reinterpret_cast<const ElfW(Sym)*>(address);
    if (dynamic->d_tag == DT_STRTAB) object.strings = reinterpret_cast<const char*>(address);
    if (dynamic->d_tag == DT_JMPREL)
      object.tables[0] = reinterpret_cast<const ElfW(Rela)*>(address);
    if (dynamic->d_tag == DT_PLTRELSZ) object.sizes[0] = dynamic->d_un.d_val;
    if (dynamic->d_tag == DT_RELA) object.tables[1] = reinterpret_cast<const ElfW(Rela)*>(address);
    if (dynamic->d_tag == DT_RELASZ) object.sizes[1] = dynamic->d_un.d_val;
  }
  return object;
}

void write_slot(const Object& object, void** slot, void* value) {
  const auto address = reinterpret_cast<ElfW(Addr)>(slot);
  const bool sealed = address >= object.relro_begin && address < object.relro_end;
  const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  auto* page = reinterpret_cast<void*>(address & ~static_cast<ElfW(Addr)>(size - 1));
  if (sealed && mprotect(page, size, PROT_READ | PROT_WRITE) != 0) return;
  __atomic_store_n(slot, value, __ATOMIC_RELEASE);
  if (sealed) mprotect(page, size, PROT_READ);
}

bool is_slot(std::uint64_t info) {
  for (const auto type : kSlotTypes)
    if (ELF64_R_TYPE(info) == type) return true;
  return false;
}

bool hook_object(const Object& object) {
  bool hooked = false;
  if (object.symbols == nullptr || object.strings == nullptr) return false;
  for (int t = 0; t < 2; ++t) {
    for (std::size_t i = 0; object.tables[t] != nullptr && i < object.sizes[t] / sizeof(ElfW(Rela));
         ++i) {
      const auto& entry = object.tables[t][i];
      if (!is_slot(entry.r_info) || ELF64_R_SYM(entry.r_info) == 0) continue;
      const char* name = object.strings + object.symbols[ELF64_R_SYM(entry.r_info)].st_name;
      if (std::strncmp(name, "cuptiSubscribe", 14) != 0) continue;
      for (const auto& hook : kHooks) {
        if (std::strcmp(name, hook.name) != 0) continue;
        auto** slot = reinterpret_cast<void**>(object.base + entry.r_offset);
        void* held = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
        if (held == hook.ours || held == nullptr) continue;
        hook.before.store(held, std::memory_order_release);
        write_slot(object, slot, hook.ours);
        hooked = true;
      }
    }
  }
  return hooked;
}

// Never ours and never CUPTI's own.
bool is_foreign(const dl_phdr_info& info) {
  if (contains(info, reinterpret_cast<const void*>(&hook_object))) return false;
  const char* name = info.dlpi_name != nullptr ? info.dlpi_name : "";
  return std::strstr(name, "libcupti.so") == nullptr && std::strstr(name, "linux-vdso") == nullptr;
}

// Objects whose pointers we hold, and which must stay for that. Room that is there beforehand: the
// callback allocates nothing.
struct Hooked {
  static constexpr std::size_t kMost = 8;  // found in one pass; more are found in the next one
  std::array<std::array<char, PATH_MAX>, kMost> paths{};
  std::size_t count = 0;
  [[nodiscard]] bool full() const { return count == kMost; }
};
Hooked g_hooked;
std::atomic_flag g_looking = ATOMIC_FLAG_INIT;  // a thread has g_hooked

int count_objects(dl_phdr_info* info, std::size_t, void* adds) {
  *static_cast<unsigned long long*>(adds) = info->dlpi_adds;
  return 1;  // the first tells for all
}

int visit(dl_phdr_info* info, std::size_t, void* data) {
  auto& hooked = *static_cast<Hooked*>(data);
  if (hooked.full()) return 1;
  if (!is_foreign(*info) || !hook_object(read_object(*info)) || info->dlpi_name == nullptr)
    return 0;
  const std::size_t length = std::strlen(info->dlpi_name);
  auto& path = hooked.paths[hooked.count];
  if (length == 0 || length >= path.size()) return 0;  // the program itself stays anyway
  std::memcpy(path.data(), info->dlpi_name, length + 1);
  ++hooked.count;
  return 0;
}

// Outside the callback: this waits for the loader's lock. Only our worker does so while the program
// runs, and nobody waits for that without a bound.
void keep(const Hooked& hooked) {
  for (std::size_t i = 0; i < hooked.count; ++i)
    dlopen(hooked.paths[i].data(), RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

}  // namespace

void watch_for_other_tools() {
  if (g_looking.test_and_set(std::memory_order_acquire)) return;  // it is being done
  unsigned long long adds = 0;
  dl_iterate_phdr(count_objects, &adds);
  for (bool more = g_seen.exchange(adds) != adds; more;) {
    g_hooked.count = 0;
    dl_iterate_phdr(visit, &g_hooked);
    keep(g_hooked);
    more = g_hooked.full();
  }
  g_looking.clear(std::memory_order_release);
}

}  // namespace gable

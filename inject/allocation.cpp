// SPDX-License-Identifier: Apache-2.0
// What the library allocates with new comes from glibc itself, past an allocator of the program's.
// Such an allocator may be anybody's: it may ask the loader where it was called from, wait for a
// lock of its own or push an NVTX range, while we hold a lock that a launch of the program waits
// for, or have half changed what a range changes. glibc's own takes no lock but its own, which
// nobody holds for long, and is made for forks.
//
// malloc itself stays the program's: glibc and CUPTI call it, and free what they have from it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

// Absent in C libraries other than glibc.
// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
extern "C" void* __libc_malloc(std::size_t) __attribute__((weak));
extern "C" void __libc_free(void*) __attribute__((weak));
// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)

namespace {

bool past_the_program() { return __libc_malloc != nullptr && __libc_free != nullptr; }

void* take(std::size_t size) {
  if (size == 0) size = 1;
  return past_the_program() ? __libc_malloc(size) : std::malloc(size);
}

void give_back(void* memory) { past_the_program() ? __libc_free(memory) : std::free(memory); }

// What was taken stands before what is given. Not by __libc_memalign: sanitizers put theirs in its
// place, and not in that of __libc_free.
void* take(std::size_t size, std::align_val_t alignment) {
  const auto wanted = std::max(static_cast<std::size_t>(alignment), alignof(void*));
  const std::size_t most = wanted + sizeof(void*);
  if (size > SIZE_MAX - most) return nullptr;
  void* taken = take(size + most);
  if (taken == nullptr) return nullptr;
  const auto start = reinterpret_cast<std::uintptr_t>(taken) + sizeof(void*);
  auto** given = reinterpret_cast<void**>((start + wanted - 1) / wanted * wanted);
  given[-1] = taken;
  return given;
}

void give_back(void* memory, std::align_val_t) {
  if (memory != nullptr) give_back(static_cast<void**>(memory)[-1]);
}

template <typename... Arguments>
void* take_or_throw(Arguments... arguments) {
  void* memory = take(arguments...);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t size) { return take_or_throw(size); }
void* operator new[](std::size_t size) { return take_or_throw(size); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return take_or_throw(size, alignment);
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return take_or_throw(size, alignment);
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return take(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return take(size); }
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return take(size, alignment);
}
void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return take(size, alignment);
}

void operator delete(void* memory) noexcept { give_back(memory); }
void operator delete[](void* memory) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t) noexcept { give_back(memory); }
void operator delete[](void* memory, std::size_t) noexcept { give_back(memory); }
void operator delete(void* memory, std::align_val_t alignment) noexcept {
  give_back(memory, alignment);
}
void operator delete[](void* memory, std::align_val_t alignment) noexcept {
  give_back(memory, alignment);
}
void operator delete(void* memory, std::size_t, std::align_val_t alignment) noexcept {
  give_back(memory, alignment);
}
void operator delete[](void* memory, std::size_t, std::align_val_t alignment) noexcept {
  give_back(memory, alignment);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept { give_back(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { give_back(memory); }
void operator delete(void* memory, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  give_back(memory, alignment);
}
void operator delete[](void* memory, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  give_back(memory, alignment);
}

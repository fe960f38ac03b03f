// SPDX-License-Identifier: Apache-2.0
#include "collector/process/loaded_objects.h"

#include <errno.h>

#include <cstdint>
#include <cstring>

namespace gable {
namespace {

struct ByName {
  const char* wanted;
  bool found;
};

int look_for_name(dl_phdr_info* object, std::size_t, void* data) {
  auto& search = *static_cast<ByName*>(data);
  search.found = object->dlpi_name != nullptr &&
                 std::strcmp(file_name_of(object->dlpi_name), search.wanted) == 0;
  return search.found ? 1 : 0;
}

struct ByAddress {
  const void* wanted;
  char* name;
  std::size_t size;
  bool found;
};

int look_for_address(dl_phdr_info* object, std::size_t, void* data) {
  auto& search = *static_cast<ByAddress*>(data);
  if (!contains(*object, search.wanted)) return 0;
  const bool named = object->dlpi_name != nullptr && *object->dlpi_name != 0;
  const char* name = named ? file_name_of(object->dlpi_name) : program_invocation_short_name;
  const std::size_t length = std::strlen(name);
  const std::size_t kept = length < search.size ? length : search.size - 1;
  std::memcpy(search.name, name, kept);
  search.name[kept] = 0;
  search.found = true;
  return 1;
}

}  // namespace

const char* file_name_of(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}

bool contains(const dl_phdr_info& object, const void* address) {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const auto& segment = object.dlpi_phdr[i];
    const auto begin = object.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && wanted >= begin && wanted - begin < segment.p_memsz)
      return true;
  }
  return false;
}

bool is_loaded(const char* file_name) {
  ByName search{file_name, false};
  dl_iterate_phdr(look_for_name, &search);
  return search.found;
}

bool object_at(const void* address, char* file_name, std::size_t size) {
  ByAddress search{address, file_name, size, false};
  if (size > 0) dl_iterate_phdr(look_for_address, &search);
  return search.found;
}

}  // namespace gable

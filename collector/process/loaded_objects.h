// SPDX-License-Identifier: Apache-2.0
// What the loader has mapped, without taking the lock that it holds while constructors run.
//
// dlopen, dlclose, dlsym and dladdr wait for that lock as long as a constructor takes, and forever
// if the constructor waits for the calling thread. dl_iterate_phdr waits for another one, which is
// only held while the list of objects changes. Within its callback no lock may be taken and nothing
// allocated: an allocator of the program's may ask the loader, and dladdr there takes the two locks
// in the opposite order of a dlopen.
#pragma once

#include <link.h>

#include <cstddef>

namespace gable {

// The part of a path behind the last slash.
[[nodiscard]] const char* file_name_of(const char* path);

// Whether the address lies in a segment of the object. Takes no lock.
[[nodiscard]] bool contains(const dl_phdr_info& object, const void* address);

// Whether an object of that file name is mapped.
[[nodiscard]] bool is_loaded(const char* file_name);

// Writes the file name, truncated to `size`, of the object that contains the address, which may be
// the program itself. Returns false if there is none.
bool object_at(const void* address, char* file_name, std::size_t size);

}  // namespace gable

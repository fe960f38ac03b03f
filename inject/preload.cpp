// SPDX-License-Identifier: Apache-2.0
// LD_PRELOAD only points the two injection variables at this very library: CUDA and NVTX then load
// it as they would have, in this program and in those it starts. In a Python program it also puts
// the folder of the Python side first on PYTHONPATH, as `gable profile` does; nobody has read that
// yet. A program that uses none of them pays for two more variables.
//
// Where CUDA loads the library, all this runs beside the program's threads, which may be reading
// variables: a new list of them takes the old one's place, which stays as it is. Past the program's
// own getenv and setenv: bash has some, which begin its own table of variables before it has read
// those that it was given.
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <exception>
#include <string>

#include "inject/python_attach.h"

namespace {

const char* value_of(const char* entry, const std::string& name) {
  const bool named = entry != nullptr && std::strncmp(entry, name.c_str(), name.size()) == 0 &&
                     entry[name.size()] == '=';
  return named ? entry + name.size() + 1 : nullptr;
}

const char* read_variable(const std::string& name) {
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    if (const char* value = value_of(*entry, name); value != nullptr) return value;
  return nullptr;
}

// The list and the text are the program's from now on, and are never freed.
void write_variable(const std::string& name, const std::string& value) {
  std::size_t count = 0;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) ++count;
  const std::string text = name + "=" + value;
  auto* kept = new char[text.size() + 1];
  std::memcpy(kept, text.c_str(), text.size() + 1);
  auto** fresh = new char*[count + 2];
  std::size_t size = 0;
  for (std::size_t i = 0; i < count && environ[i] != nullptr; ++i)
    if (value_of(environ[i], name) == nullptr) fresh[size++] = environ[i];
  fresh[size++] = kept;
  fresh[size] = nullptr;
  std::atomic_ref<char**>(environ).store(fresh, std::memory_order_release);
}

void write_if_missing(const std::string& name, const std::string& value) {
  if (read_variable(name) == nullptr) write_variable(name, value);
}

void put_first_on_python_path(const std::string& folder) {
  const char* before = read_variable("PYTHONPATH");
  const std::string rest = before == nullptr ? "" : before;
  if (rest == folder || rest.rfind(folder + ":", 0) == 0) return;
  write_variable("PYTHONPATH", rest.empty() ? folder : folder + ":" + rest);
}

__attribute__((constructor)) void point_variables_here() {
  try {
    const std::string library = gable::own_library();
    if (library.empty()) return;
    write_if_missing("CUDA_INJECTION64_PATH", library);
    write_if_missing("NVTX_INJECTION64_PATH", library);
    const char* injected = read_variable("CUDA_INJECTION64_PATH");
    const bool ours = injected != nullptr && library == injected;  // else another tool's
    if (!ours || !gable::python_is_loaded()) return;
    const std::string side = gable::python_side_of(library);
    if (!side.empty()) put_first_on_python_path(side + "/startup");
  } catch (const std::exception&) {
    return;  // out of memory: the program runs as it would have
  }
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// An object for programs to load and unload: says so to the program, where it wants to know.
extern "C" void locks_loaded() __attribute__((weak));
extern "C" void locks_unloaded() __attribute__((weak));

namespace {

// The loader holds its lock while it calls them.
__attribute__((constructor)) void loaded() {
  if (locks_loaded != nullptr) locks_loaded();
}
__attribute__((destructor)) void unloaded() {
  if (locks_unloaded != nullptr) locks_unloaded();
}

}  // namespace

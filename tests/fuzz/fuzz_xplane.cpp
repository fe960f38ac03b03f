// SPDX-License-Identifier: Apache-2.0
// XPlane files of JAX's and TensorFlow's profilers.
#include <memory>

#include "tests/fuzz/fuzz_import.h"
#include "tools/import/xplane/xplane_file.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gable;
  for (const char* step_range : {"", "^train"}) {
    fuzz::import([&](Imported& imported) {
      imported.step_range = step_range;
      read_xplane_file(
          [&] { return std::make_unique<TextSource>(fuzz::text_of(data, size), "input"); },
          imported);
    });
  }
  return 0;
}

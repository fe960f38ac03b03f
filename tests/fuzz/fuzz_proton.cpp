// SPDX-License-Identifier: Apache-2.0
// Profiles of Triton's profiler.
#include "tests/fuzz/fuzz_import.h"
#include "tools/import/proton/proton_profile.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gable;
  fuzz::import([&](Imported& imported) {
    TextSource source(fuzz::text_of(data, size), "input");
    read_proton_profile(source, imported);
  });
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Traces of PyTorch's profiler.
#include "tests/fuzz/fuzz_import.h"
#include "tools/import/kineto/kineto_trace.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gable;
  fuzz::import([&](Imported& imported) {
    TextSource source(fuzz::text_of(data, size), "input");
    read_kineto_trace(source, imported);
  });
  return 0;
}

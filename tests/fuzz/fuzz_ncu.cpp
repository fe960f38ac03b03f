// SPDX-License-Identifier: Apache-2.0
// Output of ncu --csv.
#include "tests/fuzz/fuzz_import.h"
#include "tools/import/ncu/ncu_csv.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gable;
  fuzz::import([&](Imported& imported) {
    TextSource source(fuzz::text_of(data, size), "input");
    read_ncu_csv(source, imported);
  });
  return 0;
}

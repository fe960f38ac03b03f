// SPDX-License-Identifier: Apache-2.0
// What nsys exports as SQLite.
#include <unistd.h>

#include <array>

#include "tests/fuzz/fuzz_import.h"
#include "tools/import/nsys/nsys_sqlite.h"

namespace {

// SQLite opens files by their names alone. One for all inputs, gone with the program.
struct File {
  std::array<char, 32> path{"/tmp/gable-fuzz-XXXXXX"};
  int number = mkstemp(path.data());
  ~File() {
    close(number);
    unlink(path.data());
  }
};

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gable;
  static const File file;
  if (ftruncate(file.number, 0) != 0 ||
      pwrite(file.number, data, size, 0) != static_cast<ssize_t>(size))
    return 0;
  fuzz::import([](Imported& imported) {
    Progress progress(false);
    read_nsys_sqlite(file.path.data(), imported, progress);
  });
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "tools/streams/spill_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tools/base/wrong_use.h"

namespace gable {
namespace {

// Memory may be what /tmp lies in; /var/tmp is for large files.
std::string folder() {
  const char* const named = std::getenv("TMPDIR");
  if (named != nullptr && *named != '\0') return named;
  return access("/var/tmp", W_OK | X_OK) == 0 ? "/var/tmp" : "/tmp";
}

[[noreturn]] void fail(int error) {
  throw WrongUse("There is no room in " + folder() + " (" + std::strerror(error) +
                 ") for what a file of this size needs beside memory, a little more than half of "
                 "its size: free some, or name another folder with TMPDIR.");
}

}  // namespace

SpillFile::~SpillFile() {
  if (file_ >= 0) (void)close(file_);
}

void SpillFile::make() {
  std::string name = folder() + "/gable-import-XXXXXX";
  file_ = mkostemp(name.data(), O_CLOEXEC);
  if (file_ < 0) fail(errno);
  (void)unlink(name.c_str());
}

void SpillFile::append(const void* bytes, std::size_t size) {
  if (file_ < 0) make();
  const auto* from = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t done = pwrite(file_, from, size, static_cast<off_t>(size_));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) fail(done < 0 ? errno : ENOSPC);
    from += done;
    size_ += static_cast<std::uint64_t>(done);
    size -= static_cast<std::size_t>(done);
  }
}

void SpillFile::read(std::uint64_t offset, void* to, std::size_t size) const {
  auto* into = static_cast<char*>(to);
  while (size > 0) {
    const ssize_t done = pread(file_, into, size, static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0)
      throw WrongUse("A temporary file in " + folder() +
                     " cannot be read back: " + std::strerror(done < 0 ? errno : EIO) + ".");
    into += done;
    offset += static_cast<std::uint64_t>(done);
    size -= static_cast<std::size_t>(done);
  }
}

}  // namespace gable

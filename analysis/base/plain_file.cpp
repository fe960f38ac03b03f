// SPDX-License-Identifier: Apache-2.0
#include "analysis/base/plain_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace gable {

std::optional<std::string> read_to_end(int file) {
  std::string text;
  std::array<char, 4096> some{};
  for (;;) {
    const auto count = ::read(file, some.data(), some.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::nullopt;
    if (count == 0) return text;
    text.append(some.data(), static_cast<std::size_t>(count));
  }
}

std::optional<std::string> read_plain_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (file < 0) return std::nullopt;
  auto text = read_to_end(file);
  ::close(file);
  return text;
}

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// Fuzz targets: each source beside this file is one. It gets any bytes, and must neither crash nor
// break what its parser promises.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace gable::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// A promise that holds for every input.
inline void expect(bool holds, const char* promise) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: not kept: %s\n", promise);
  std::abort();
}

}  // namespace gable::fuzz

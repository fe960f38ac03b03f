// SPDX-License-Identifier: Apache-2.0
// A fast 64-bit hash for names and launch keys: 8 bytes per step, folded by a 128-bit product (the
// construction of wyhash). Not for adversarial input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace gable {

inline std::uint64_t mix64(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

inline std::uint64_t hash_bytes(const char* data, std::size_t size, std::uint64_t seed) {
  constexpr std::uint64_t k0 = 0xa0761d6478bd642fULL, k1 = 0xe7037ed1a0b428dbULL;
  std::uint64_t h = seed ^ k0;
  std::size_t left = size;
  while (left >= 8) {
    std::uint64_t word;
    std::memcpy(&word, data, 8);
    h = mix64(h ^ word, k1);
    data += 8;
    left -= 8;
  }
  std::uint64_t tail = 0;
  if (left > 0) std::memcpy(&tail, data, left);
  h = mix64(h ^ tail, k1 ^ left);
  return mix64(h ^ size, k0);
}

}  // namespace gable

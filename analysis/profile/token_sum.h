// SPDX-License-Identifier: Apache-2.0
// Sums over forward passes of a layer that generates text.
#pragma once

#include <cstdint>

namespace gable {

struct TokenSum {
  std::uint64_t forwards = 0, tokens = 0, per_sequence = 0;
  std::uint64_t ns = 0;  // how long they took
  void add(const TokenSum& other) {
    forwards += other.forwards;
    tokens += other.tokens;
    per_sequence += other.per_sequence;
    ns += other.ns;
  }
};

// The sums of one layer, on both timelines.
struct TokenSums {
  TokenSum gpu, host;
  bool plain = false;  // `host` is from windows in which Gable switched nothing
};

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// Made-up programs with known truth: what each launch does, and what goes wrong in which step.
// Everything follows from one seed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/events/events.h"

namespace gable::simulation {

// splitmix64: small, the same on every machine.
class Chance {
 public:
  explicit Chance(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }
  std::uint64_t from(std::uint64_t low, std::uint64_t high) { return low + below(high - low + 1); }
  double uniform(double low, double high) {
    return low + (high - low) * (static_cast<double>(next() >> 11) * 0x1.0p-53);
  }
  bool one_in(std::uint64_t n) { return below(n) == 0; }

 private:
  std::uint64_t state_;
};

// Of one launch without any scale.
struct Kernel {
  LaunchKey key;
  double ffma = 0, sectors = 0, ns = 0;
};

struct Launch {
  LaunchKey key;
  std::uint32_t kernel = 0, step = 0;
  double work = 1;        // FLOP, bytes and time
  double bytes = 1;       // bytes alone
  double flops = 1;       // FLOPs alone
  bool reloaded = false;  // its module was loaded within the step
  bool is_new = false;    // its kernel never ran before
  bool other_thread = false;
};

enum class Shapes : std::uint8_t { one, alternating, blocks, random, dynamic, endless };
enum class Work : std::uint8_t {
  fixed,
  by_ordinal,   // a stable sequence within the step
  per_step,     // another size in every step
  drift,        // grows a little from step to step
  sudden,       // another size from one step on
  every_other,  // two sizes in turn
  by_shape,     // another size in each kind of step
  bytes_only,   // the same FLOPs, other bytes in every step
  flops_only    // the same bytes and time, other FLOPs in every step: data decide
};

// What goes wrong in a stretch of steps. Its effect is the same in all of them, so that windows of
// one phase agree with each other, and only the check made for it sees it.
enum class Trouble : std::uint8_t {
  module_reload,
  capture,
  stuck,
  dropped,
  missing,
  unranged,
  overlap,
  kinds
};
struct Stretch {
  Trouble trouble = Trouble::dropped;
  std::uint32_t from = 0, to = 0;  // the first step, and the one after the last
};

struct Program {
  std::uint64_t seed = 0;
  std::uint32_t groups = 1;       // hardware passes of its chip
  bool has_steps = true;          // borders are known
  bool reversed = false;          // ranges come back in another order than the launches
  bool shuffled = false;          // threads interleave differently in every step
  std::uint32_t length = 0;       // steps until it ends
  std::uint32_t tuning = 0;       // steps in which further kernels are tried out
  std::uint32_t extra_every = 0;  // steps between those that launch more; 0: none
  std::uint32_t window = 200;     // launches of a window without steps
  std::uint32_t set_up = 0;       // kernels that are launched before the first step, once
  std::uint32_t inner = 0;        // launches of a loop within each step; 0: none
  std::uint32_t inner_times = 0;  // how often it goes round
  bool inner_varies = false;      // one kernel is another each time
  Shapes shapes = Shapes::one;
  Work work = Work::fixed;
  std::uint32_t changes_at = 0;  // of Work::sudden and Shapes::blocks
  double factor = 2;             // of the other size
  std::vector<Kernel> kernels;
  std::vector<bool> varies;                           // by kernel
  std::vector<std::vector<std::uint32_t>> sequences;  // by shape: kernels in order of launch
  std::vector<Stretch> troubles;

  [[nodiscard]] std::uint32_t shape_of(std::uint32_t step) const;
  [[nodiscard]] std::vector<Launch> launches(std::uint32_t step) const;
  [[nodiscard]] bool has(Trouble trouble, std::uint32_t step) const;
  // Every step alike and nothing goes wrong: the report must be complete.
  [[nodiscard]] bool stable() const;
  // The same launches come again and again, in one order; all of them: those of every kind of step.
  [[nodiscard]] bool regular() const;
  [[nodiscard]] std::string describe() const;
};

[[nodiscard]] Program random_program(std::uint64_t seed);
// One kind of step with `launches` launches of `keys` keys, for ever.
[[nodiscard]] Program stable_program(std::uint64_t seed, std::uint32_t launches,
                                     std::uint32_t keys);
// The same without borders, after something else, with the keys in any order.
[[nodiscard]] Program periodic_program(std::uint64_t seed, std::uint32_t launches,
                                       std::uint32_t keys);

}  // namespace gable::simulation

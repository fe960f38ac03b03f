// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/program.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace gable::simulation {
namespace {

constexpr double kSizes[] = {1, 2, 9};           // of Work::by_ordinal, in turn
constexpr FunctionId kTuningFunctions = 100000;  // far above those of the kernels
constexpr FunctionId kSetUpFunctions = 200000;

Kernel random_kernel(Chance& chance, std::uint32_t index) {
  Kernel kernel;
  kernel.key.layer = static_cast<LayerId>(index / 7);
  kernel.key.function = 1 + index % 5000;
  kernel.key.grid = {static_cast<std::uint32_t>(chance.from(1, 4000)), 1, 1};
  kernel.key.block = {128, 1, 1};
  kernel.key.dynamic_shared = index;  // no two kernels have one key
  kernel.ffma = static_cast<double>(chance.from(1000, 1000000000));
  kernel.sectors = static_cast<double>(chance.from(10000, 10000000));
  kernel.ns = chance.uniform(20000, 2000000);
  return kernel;
}

std::uint32_t random_size(Chance& chance) {
  const auto kind = chance.below(2000);
  if (kind == 0) return 100000;
  if (kind < 8) return static_cast<std::uint32_t>(chance.from(1000, 10000));
  if (kind < 120) return static_cast<std::uint32_t>(chance.from(100, 1000));
  return static_cast<std::uint32_t>(chance.from(1, 40));
}

void make_sequences(Chance& chance, Program& program, std::uint32_t size) {
  const auto keys = static_cast<std::uint32_t>(chance.from(1, std::min(size, 5000u)));
  const std::uint32_t kinds = program.shapes == Shapes::one || program.shapes == Shapes::endless ? 1
                              : program.shapes == Shapes::dynamic
                                  ? static_cast<std::uint32_t>(chance.from(2, 12))
                                  : static_cast<std::uint32_t>(chance.from(2, 3));
  for (std::uint32_t i = 0; i < keys; ++i) program.kernels.push_back(random_kernel(chance, i));
  for (std::uint32_t kind = 0; kind < kinds; ++kind) {
    auto& sequence = program.sequences.emplace_back();
    for (std::uint32_t i = 0; i < program.inner * program.inner_times; ++i) {
      // Of those that the rest of the step has too, but for the one that varies.
      const auto kernel = static_cast<std::uint32_t>(program.kernels.size());
      const bool varies = program.inner_varies && i % program.inner == 3;
      if (varies) program.kernels.push_back(random_kernel(chance, kernel));
      sequence.push_back(varies ? kernel : i % program.inner % std::max(keys, 1u));
    }
    for (std::uint32_t i = 0; i < size; ++i) {
      const auto kernel = i < keys ? i : static_cast<std::uint32_t>(chance.below(keys));
      if (kind == 0 || !chance.one_in(4)) sequence.push_back(kernel);
    }
    // What only this kind of step has; less than half of the inner loop would be taken for a log.
    for (auto own = chance.from(1, 3) + program.inner / 2; own > 0; --own) {
      sequence.push_back(static_cast<std::uint32_t>(program.kernels.size()));
      program.kernels.push_back(
          random_kernel(chance, static_cast<std::uint32_t>(program.kernels.size())));
    }
  }
}

void make_troubles(Chance& chance, Program& program) {
  for (auto count = chance.below(4); count > 0; --count) {
    Stretch stretch;
    stretch.trouble =
        static_cast<Trouble>(chance.below(static_cast<std::uint64_t>(Trouble::kinds)));
    stretch.from = static_cast<std::uint32_t>(chance.below(40));
    stretch.to =
        stretch.from + static_cast<std::uint32_t>(chance.one_in(2) ? 1 : chance.from(2, 30));
    // Where launches overlap they always do.
    if (stretch.trouble == Trouble::overlap) stretch = {Trouble::overlap, 0, UINT32_MAX};
    program.troubles.push_back(stretch);
  }
}

}  // namespace

std::uint32_t Program::shape_of(std::uint32_t step) const {
  const auto kinds = static_cast<std::uint32_t>(sequences.size());
  switch (shapes) {
    case Shapes::alternating:
      return step % kinds;
    case Shapes::blocks:
      return step < changes_at ? 0 : 1;
    case Shapes::random:
    case Shapes::dynamic:
      return static_cast<std::uint32_t>(Chance(seed ^ (step * 0x5851F42D4C957F2Dull)).below(kinds));
    default:
      return 0;
  }
}

bool Program::has(Trouble trouble, std::uint32_t step) const {
  return std::any_of(troubles.begin(), troubles.end(), [&](const Stretch& stretch) {
    return stretch.trouble == trouble && step >= stretch.from && step < stretch.to;
  });
}

std::vector<Launch> Program::launches(std::uint32_t step) const {
  Chance chance(seed + step * 0x2545F4914F6CDD1Dull);
  const auto shape = shape_of(step);
  const double size = chance.uniform(1, 4), other = chance.uniform(1, 4);
  std::vector<Launch> out;
  std::vector<std::uint32_t> ordinals(work == Work::by_ordinal ? kernels.size() : 0);
  const auto add = [&](std::uint32_t kernel) {
    Launch launch;
    launch.kernel = kernel;
    launch.step = step;
    launch.key = kernels[kernel].key;
    if (shapes == Shapes::endless) launch.key.grid.y = 1 + step;
    if (varies[kernel]) {
      switch (work) {
        case Work::fixed:
          break;
        case Work::by_ordinal:
          launch.work = kSizes[ordinals[kernel]++ % 3];
          break;
        case Work::per_step:
          launch.work = size;
          break;
        case Work::drift:
          launch.work = 1 + 0.02 * step;
          break;
        case Work::sudden:
          launch.work = step < changes_at ? 1 : factor;
          break;
        case Work::every_other:
          launch.work = step % 2 == 0 ? 1 : factor;
          break;
        case Work::by_shape:
          launch.work = 1 + shape * (factor - 1);
          break;
        case Work::bytes_only:
          launch.bytes = other;
          break;
        case Work::flops_only:
          launch.flops = other;
          break;
      }
    }
    launch.reloaded = has(Trouble::module_reload, step) && kernel % 3 == 0;
    out.push_back(launch);
  };
  if (step == 0) {
    for (std::uint32_t i = 0; i < set_up; ++i) {
      add(0);
      out.back().key.function = kSetUpFunctions + i;
      out.back().key.grid.z = 3;
    }
  }
  for (const auto kernel : sequences[shape]) add(kernel);
  if (extra_every > 0 && step % extra_every == extra_every - 1)
    for (auto more = 1 + seed % 3; more > 0; --more)
      add(sequences[shape][more % sequences[shape].size()]);
  if (step < tuning) {
    for (std::uint32_t i = 0; i < 3; ++i) {
      add(0);
      out.back().key.function = kTuningFunctions + step * 3 + i;
      out.back().key.grid.z = 2;
    }
  }
  if (shuffled && !has_steps) {
    // Two threads, each in its own order.
    std::vector<Launch> first, second;
    for (auto& launch : out) {
      launch.other_thread = launch.kernel % 3 == 2;
      (launch.other_thread ? second : first).push_back(launch);
    }
    out.clear();
    for (std::size_t a = 0, b = 0; a < first.size() || b < second.size();) {
      const bool from_first =
          b == second.size() ||
          (a < first.size() && chance.below(first.size() + second.size()) < first.size());
      out.push_back(from_first ? first[a++] : second[b++]);
    }
  } else if (shuffled)
    for (auto i = out.size(); i > 1; --i) std::swap(out[i - 1], out[chance.below(i)]);
  return out;
}

bool Program::stable() const {
  return has_steps && shapes == Shapes::one && (work == Work::fixed || work == Work::by_ordinal) &&
         troubles.empty() && extra_every == 0 && tuning <= 2;
}

bool Program::regular() const {
  return (shapes == Shapes::one || shapes == Shapes::alternating) && !shuffled && extra_every == 0;
}

std::string Program::describe() const {
  std::string text =
      "program " + std::to_string(seed) + ": shapes " + std::to_string(static_cast<int>(shapes)) +
      ", work " + std::to_string(static_cast<int>(work)) + ", groups " + std::to_string(groups) +
      (has_steps ? "" : ", no steps") + (shuffled ? ", shuffled" : "") + ", inner " +
      std::to_string(inner) + " x " + std::to_string(inner_times) +
      (inner_varies ? " varying" : "") + ", length " + std::to_string(length) + ", launches " +
      std::to_string(sequences[0].size()) + ", tuning " + std::to_string(tuning) + ", extra " +
      std::to_string(extra_every) + ", changes at " + std::to_string(changes_at);
  for (const auto& each : troubles)
    text += ", trouble " + std::to_string(static_cast<int>(each.trouble)) + " in " +
            std::to_string(each.from) + ".." + std::to_string(each.to);
  return text;
}

Program random_program(std::uint64_t seed) {
  Chance chance(seed * 0xD6E8FEB86659FD93ull + 1);
  Program program;
  program.seed = seed;
  program.groups = static_cast<std::uint32_t>(chance.from(1, 5));
  program.has_steps = !chance.one_in(5);
  program.reversed = chance.one_in(2);
  program.shuffled = chance.one_in(3);
  program.shapes = chance.one_in(2) ? Shapes::one : static_cast<Shapes>(chance.below(6));
  program.work = chance.one_in(3) ? Work::fixed : static_cast<Work>(chance.below(9));
  program.changes_at = static_cast<std::uint32_t>(chance.from(1, 30));
  program.factor = chance.uniform(1.5, 4);
  program.tuning = chance.one_in(3) ? static_cast<std::uint32_t>(chance.below(8)) : 0;
  program.extra_every = chance.one_in(4) ? static_cast<std::uint32_t>(chance.from(2, 20)) : 0;
  const auto size = random_size(chance);
  program.length = chance.one_in(4) ? static_cast<std::uint32_t>(chance.from(1, 60)) : UINT32_MAX;
  if (program.shapes == Shapes::endless && !chance.one_in(20))
    program.length = static_cast<std::uint32_t>(chance.from(1, 60));
  if (size > 2000) {
    program.shapes = chance.one_in(2) ? Shapes::one : Shapes::alternating;
    program.length = std::min(program.length, size == 100000 ? 8u : 60u);
  }
  if (!program.has_steps) {
    program.set_up = static_cast<std::uint32_t>(chance.below(300));
    if (size <= 1000 && chance.one_in(3)) {
      program.inner = static_cast<std::uint32_t>(chance.from(8, 30));
      program.inner_times = static_cast<std::uint32_t>(chance.from(2, 40));
      program.inner_varies = chance.one_in(2);
    }
  }
  make_sequences(chance, program, size);
  for (std::size_t i = 0; i < program.kernels.size(); ++i)
    program.varies.push_back(chance.one_in(2));
  if (!chance.one_in(3)) make_troubles(chance, program);
  return program;
}

Program periodic_program(std::uint64_t seed, std::uint32_t launches, std::uint32_t keys) {
  auto program = stable_program(seed, launches, keys);
  program.has_steps = false;
  program.set_up = static_cast<std::uint32_t>(seed * 17);
  Chance chance(seed);
  auto& sequence = program.sequences.front();
  for (std::size_t i = keys; i < sequence.size(); ++i)
    sequence[i] = static_cast<std::uint32_t>(chance.below(std::max(keys, 2u) - 1));
  for (auto i = sequence.size(); i > 1; --i) std::swap(sequence[i - 1], sequence[chance.below(i)]);
  return program;
}

Program stable_program(std::uint64_t seed, std::uint32_t launches, std::uint32_t keys) {
  Chance chance(seed);
  Program program;
  program.seed = seed;
  program.groups = 4;
  program.length = UINT32_MAX;
  for (std::uint32_t i = 0; i < keys; ++i) program.kernels.push_back(random_kernel(chance, i));
  auto& sequence = program.sequences.emplace_back();
  for (std::uint32_t i = 0; i < launches; ++i) sequence.push_back(i % std::max(keys, 1u));
  program.varies.assign(keys, false);
  return program;
}

}  // namespace gable::simulation

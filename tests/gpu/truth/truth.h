// SPDX-License-Identifier: Apache-2.0
// Kernels whose work is known exactly, and what a report of them must say.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gable::truth {

// One number of the report: "flops.fp32", "bytes.dram", "counters.NAME" of a kernel's row or a
// layer's, "time_ns.median"; of the step, the sum over the rows of its kernels.
struct Expectation {
  enum class Kind {
    exact,
    near,    // within `tolerance` of it
    between  // value to high
  };
  std::string quantity;
  Kind kind = Kind::exact;
  double value = 0, high = 0, tolerance = 0;
  std::string why;          // how it follows from the instructions
  std::string may_be_null;  // why the report may not know it
};

struct Kernel {
  std::string name, ptx;
  unsigned grid = 1, block = 1;
  // The parameters of every kernel of the proof.
  std::uint64_t data = 0, out = 0, blockbytes = 0, mask = 0, step = 0;
  std::uint32_t turns = 1;
  // Streams: bytes that one thread reads and writes in memory and in shared memory for an element.
  unsigned reads = 0, writes = 0, shared_reads = 0, shared_writes = 0;
  std::vector<Expectation> expected;
};

// What the GPU has for kernels.
struct Memory {
  std::uint64_t data = 0, out = 0;  // two windows
  std::uint64_t bytes = 0;          // of each, as far as the expectations go
};

inline constexpr unsigned kGrid = 264;

[[nodiscard]] std::vector<Kernel> core_kernels(const Memory& memory);
// Of a compute capability, 90 for 9.0.
[[nodiscard]] std::vector<Kernel> half_kernels(int capability, const Memory& memory);
[[nodiscard]] std::vector<Kernel> tensor_kernels(int capability, const Memory& memory);
// Streams through the DRAM, of which a step moves a known sum; and a stride, the L2, shared memory.
[[nodiscard]] std::vector<Kernel> stream_kernels(const Memory& memory, std::uint64_t l2_bytes);
[[nodiscard]] std::vector<Kernel> cache_kernels(const Memory& memory, std::uint64_t l2_bytes);
[[nodiscard]] std::vector<Kernel> time_kernels(const Memory& memory);

// One of these by its name; empty where the chip has none, or the name is unknown.
[[nodiscard]] std::vector<Kernel> family(const std::string& name, int capability,
                                         const Memory& memory, std::uint64_t l2_bytes);

// For the disassembler: writes the PTX of every kernel of these families and of `gable ceilings`
// into the folder, and prints what one thread of each promises to do, one JSON object a line.
// Needs no GPU.
int write_promises(const std::string& folder, int capability);

// What all launches of streams move in a step.
[[nodiscard]] std::vector<Expectation> step_of(const std::vector<Kernel>& kernels);

// A kernel of the ceilings' form, with the expectations that follow from its PTX: every count of
// instructions, and the work that the report makes of them. `counters`: also the raw metrics.
struct Form {
  std::string name, target, version, registers, setup, body, result;
  unsigned block = 256;
  std::uint32_t turns = 200;
  // Of the threads that a predicate lets through, or that run what stands below a label.
  std::vector<std::pair<std::string, double>> shares;
};
[[nodiscard]] Kernel kernel_of(const Form& form, const Memory& memory);
void expect_work(Kernel& kernel, const std::vector<std::pair<std::string, double>>& shares);

}  // namespace gable::truth

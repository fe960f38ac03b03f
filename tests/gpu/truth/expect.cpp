// SPDX-License-Identifier: Apache-2.0
// From counts of instructions to what the report must say.
#include <array>
#include <map>

#include "tests/gpu/truth/ptx_work.h"
#include "tests/gpu/truth/truth.h"
#include "tools/ceilings/ceilings_ptx.h"

namespace gable::truth {
namespace {

constexpr std::array<const char*, 9> kCounted = {"fadd", "fmul", "ffma", "hadd", "hmul",
                                                 "hfma", "dadd", "dmul", "dfma"};
// The compiler moves constants by HFMA2; Gable takes so many a thread for moves.
constexpr double kMovesPerThread = 8;

}  // namespace

void expect_work(Kernel& kernel, const std::vector<std::pair<std::string, double>>& shares) {
  const PtxWork work = ptx_work(kernel.ptx, shares);
  const double threads = static_cast<double>(kernel.grid) * kernel.block;
  std::map<std::string, double> counts;
  for (const char* name : kCounted) counts[name] = threads * work.of(name, kernel.turns);
  const double two_wide = counts["hadd"] + counts["hmul"], moves = kMovesPerThread * threads;
  const auto expect = [&](const std::string& quantity, double value, double high,
                          const std::string& why) {
    Expectation one;
    one.quantity = quantity;
    one.value = value;
    one.high = high;
    if (high > value) one.kind = Expectation::Kind::between;
    one.why = why;
    kernel.expected.push_back(one);
  };
  const auto metric = [](const std::string& name) {
    return "counters.smsp__sass_thread_inst_executed_op_" + name + "_pred_on.sum";
  };
  for (const std::string name : kCounted) {
    if (name[0] == 'h' && two_wide > 0) continue;
    if (name == "hfma") {
      expect(metric(name), counts[name], counts[name] + moves,
             "instructions x threads, and constants that the compiler moves by HFMA2");
    } else {
      expect(metric(name), counts[name], 0, "instructions x threads");
    }
  }
  const std::string fp16 = "2 hadd + 2 hmul + 4 hfma";
  if (two_wide > 0) {
    const double all = two_wide + counts["hfma"];
    expect(metric("hadd") + "+" + metric("hmul") + "+" + metric("hfma"), all, all + moves,
           "instructions x threads; the compiler may make HFMA2 of products and sums");
    expect("flops.fp16", 2 * all, 4 * (all + moves), fp16 + ", some of them made HFMA2");
  } else {
    expect("flops.fp16", 4 * counts["hfma"], counts["hfma"] > 0 ? 4 * (counts["hfma"] + moves) : 0,
           fp16);
    if (counts["hfma"] == 0)
      kernel.expected.back().may_be_null = "its HFMA2 are moves of constants";
  }
  expect("flops.fp32", counts["fadd"] + counts["fmul"] + 2 * counts["ffma"], 0,
         "fadd + fmul + 2 ffma");
  expect("flops.fp64", counts["dadd"] + counts["dmul"] + 2 * counts["dfma"], 0,
         "dadd + dmul + 2 dfma");
}

Kernel kernel_of(const Form& form, const Memory& memory) {
  RoofKernel roof;
  roof.symbol = form.name;
  roof.target = form.target;
  Kernel kernel;
  kernel.name = form.name;
  kernel.ptx = ptx_module(roof, {form.version, form.registers, form.setup, form.body, form.result});
  kernel.grid = kGrid;
  kernel.block = form.block;
  kernel.turns = form.turns;
  kernel.out = memory.out;
  expect_work(kernel, form.shares);
  return kernel;
}

std::vector<Expectation> step_of(const std::vector<Kernel>& kernels) {
  std::map<std::string, double> sums;
  for (const Kernel& kernel : kernels) {
    for (const Expectation& one : kernel.expected) {
      if (one.quantity.rfind("bytes.dram_", 0) == 0) sums[one.quantity] += one.value;
    }
  }
  std::vector<Expectation> all;
  for (const auto& [quantity, sum] : sums) {
    Expectation one;
    one.quantity = quantity;
    one.kind = Expectation::Kind::near;
    one.value = sum;
    one.tolerance = 0.02;
    one.why = "the sum over the launches of a step";
    all.push_back(one);
  }
  return all;
}

}  // namespace gable::truth

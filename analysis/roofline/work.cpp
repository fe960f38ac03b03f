// SPDX-License-Identifier: Apache-2.0
#include "analysis/roofline/work.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>

#include "analysis/base/ascii.h"
#include "analysis/events/quantities.h"

namespace gable {
namespace {

// HFMA2 also moves constants: the compiler needs about one a thread for it, and in an unrolled loop
// of FP32 work a thousand. Beside FP32 or FP64 work HFMA2 alone is therefore unknown, and alone
// where it is as little as this. Work in half precision that is called unknown is no wrong number,
// where a move taken for work would be one.
constexpr double kMovesPerThread = 8;

struct Sum {
  bool collected = false;  // some metric was asked for
  bool known = true;       // and every one of them has a value
  bool coarse = false;     // it has more than the quantity in it
  double value = 0;
  void add(const Maybe& counter, double weight) {
    collected = true;
    known = known && counter.has_value();
    if (counter) value += weight * *counter;
  }
  [[nodiscard]] Maybe result() const { return collected && known ? Maybe(value) : std::nullopt; }
};

using Key = std::pair<Quantity, std::string>;
using Sums = std::map<Key, Sum>;

Maybe value_of(const Sums& sums, Quantity quantity) {
  const auto found = sums.find({quantity, {}});
  return found == sums.end() ? std::nullopt : found->second.result();
}

// Add, mul and fma together count a type; one of them alone would pass for all.
Maybe cuda_cores(const std::map<std::string, Maybe>& counters, const Sums& sums, Quantity quantity,
                 char type) {
  for (const char* operation : {"add", "mul", "fma"}) {
    const std::string metric =
        std::string("smsp__sass_thread_inst_executed_op_") + type + operation + "_pred_on.sum";
    if (!counters.contains(metric)) return std::nullopt;
  }
  return value_of(sums, quantity);
}

Maybe counter(const std::map<std::string, Maybe>& counters, const std::string& metric) {
  const auto found = counters.find(metric);
  return found == counters.end() ? std::nullopt : found->second;
}

// Of any number of them in half precision, at most; empty where that is unknown.
Maybe half_instructions(const std::map<std::string, Maybe>& counters) {
  double sum = 0;
  for (const char* operation : {"hadd", "hmul", "hfma"}) {
    const Maybe one = counter(
        counters, std::string("smsp__sass_thread_inst_executed_op_") + operation + "_pred_on.sum");
    if (!one) return std::nullopt;
    sum += *one;
  }
  return sum;
}

bool may_be_moves(const std::map<std::string, Maybe>& counters, const Flops& flops,
                  std::uint64_t threads) {
  const Maybe add = counter(counters, "smsp__sass_thread_inst_executed_op_hadd_pred_on.sum");
  const Maybe mul = counter(counters, "smsp__sass_thread_inst_executed_op_hmul_pred_on.sum");
  const Maybe fma = counter(counters, "smsp__sass_thread_inst_executed_op_hfma_pred_on.sum");
  if (add != 0.0 || mul != 0.0 || !fma || *fma <= 0) return false;
  // How many threads there were may be unknown: then so is the work.
  return flops.fp32.value_or(0) > 0 || flops.fp64.value_or(0) > 0 || threads == 0 ||
         *fma <= kMovesPerThread * static_cast<double>(threads);
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

// "i8", "i8i8", "i8i32", "i8f32", "u4i32": xmma kernels have the type of their input first.
bool is_integer_input(std::string_view word) {
  if (word.size() < 2 || (word[0] != 'i' && word[0] != 'u')) return false;
  const std::string_view bits = word.substr(1, word.find_first_not_of("0123456789", 1) - 1);
  return (bits == "8" || bits == "4" || bits == "1") &&
         word.find_first_not_of("0123456789iufb") == std::string_view::npos;
}

// "i64x256x32gemm": CUTLASS has the type of the accumulator before the instruction's shape.
bool is_integer_shape(std::string_view word) {
  if (!word.starts_with('i')) return false;
  word.remove_prefix(1);
  for (int side = 0; side < 2; ++side) {
    const auto digits = word.find_first_not_of("0123456789");
    if (digits == 0 || digits == std::string_view::npos || word[digits] != 'x') return false;
    word.remove_prefix(digits + 1);
  }
  return !word.empty() && is_digit(word.front());
}

template <typename Check>
bool has_word(std::string_view text, Check check) {
  constexpr std::string_view kOfWords = "abcdefghijklmnopqrstuvwxyz0123456789";
  while (!text.empty()) {
    const auto end = std::min(text.find_first_not_of(kOfWords), text.size());
    if (check(text.substr(0, end))) return true;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

// "imma", "igmma" and "i16832gemm" are instructions on INT8 or less.
bool names_integer_tensor_cores(std::string_view name) {
  const std::string text = lower(name);
  if (text.find("xmma") != std::string::npos && has_word(text, is_integer_input)) return true;
  if (text.find("gemm") != std::string::npos && has_word(text, is_integer_shape)) return true;
  constexpr std::array<std::string_view, 6> kWords = {"imma",   "igmma",  "i8816",
                                                      "i16816", "i16832", "i16864"};
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](std::string_view word) { return text.find(word) != std::string::npos; });
}

// Parts of a quantity are added. Names for the same thing are not: groups of a chip may differ in
// which of them fits.
Sums sums_of(const std::map<std::string, Maybe>& counters) {
  Sums sums;
  for (const bool coarse : {false, true}) {
    for (const auto& [metric, value] : counters) {
      const MetricRole* role = role_of(metric);
      if (role == nullptr || role->coarse != coarse) continue;
      Sum& sum = sums[{role->quantity, std::string(role->type)}];
      if (!is_one_of(role->quantity)) {
        sum.add(value, role->weight);
      } else if (!sum.collected || !sum.known) {
        sum = {};
        sum.add(value, role->weight);
        sum.coarse = coarse;
      }
    }
  }
  return sums;
}

// l1tex__t_bytes misses shared memory and bulk copies: where they ran, or nobody counted whether
// they did, its value would pass for the whole traffic.
void check_l1(const Sums& sums, Work& work) {
  if (!work.bytes.l1) return;
  const Maybe escapes = value_of(sums, Quantity::l1_escapes);
  if (escapes == 0.0) return;
  work.bytes.l1.reset();
  work.flags.emplace_back(escapes ? "l1_partial" : "l1_unchecked");
}

// L2 bytes are those that the SMs ask for, where that was counted.
void check_l2(const Sums& sums, Work& work) {
  const auto found = sums.find({Quantity::bytes_l2, {}});
  if (work.bytes.l2 && found->second.coarse) work.flags.emplace_back("l2_all");
}

// What is known of a kernel's tensor-core work.
struct Tensor {
  bool collected = false;  // some type was asked for
  bool complete = true;    // and all that were have values
  double known = 0;
};

Tensor take_tensor(const Sums& sums, Work& work) {
  Tensor tensor;
  for (const auto& [key, sum] : sums) {
    const auto& [quantity, type] = key;
    if (quantity == Quantity::ops_tensor) work.ops[type] = sum.result();
    if (quantity != Quantity::flops_tensor) continue;
    const Maybe value = sum.result();
    work.flops.tensor[type] = value;
    tensor.collected = true;
    tensor.complete = tensor.complete && value.has_value();
    tensor.known += value.value_or(0);
  }
  tensor.complete = tensor.complete && tensor.collected;
  return tensor;
}

// Instructions on integers do different amounts of work, so that their number tells none of it.
void check_integers(const Sums& sums, const Tensor& tensor, std::string_view name, Work& work) {
  const bool counted = std::any_of(work.ops.begin(), work.ops.end(),
                                   [](const auto& type) { return type.second.value_or(0) > 0; });
  const bool all =
      !work.ops.empty() && std::all_of(work.ops.begin(), work.ops.end(),
                                       [](const auto& type) { return type.second.has_value(); });
  if (counted || all) return;
  const Maybe integers = value_of(sums, Quantity::integer_tensor_instructions);
  const Maybe instructions = value_of(sums, Quantity::tensor_instructions);
  const bool left = instructions.value_or(0) > 0 && tensor.complete && tensor.known == 0;
  if (integers == 0.0 || instructions == 0.0) return;
  if (integers || left || names_integer_tensor_cores(name))
    work.flags.emplace_back("integer_unknown");
}

void check_narrow(const std::map<std::string, Maybe>& counters, Work& work) {
  const bool any = std::any_of(counters.begin(), counters.end(), [](const auto& each) {
    return each.second.value_or(0) > 0 && each.first.find("src_fp4_fp6") != std::string::npos;
  });
  if (any) work.flags.emplace_back("narrow_together");
}

// By the number of instructions in their pipe. HADD2, HMUL2 and HFMA2 may run there too: at most as
// many of warps as of threads.
bool proves_tensor_cores(const std::map<std::string, Maybe>& counters, const Sums& sums) {
  const Maybe instructions = value_of(sums, Quantity::tensor_instructions);
  const Maybe half = half_instructions(counters);
  return instructions && half && *instructions > *half;
}

// Whether the types that the kernel's name tells were counted; of a name without one, FP16.
bool counts_types_of(std::string_view name, const std::map<std::string, Maybe>& tensor) {
  constexpr std::array<std::pair<std::string_view, const char*>, 6> kTypes = {{{"tf32", "tf32"},
                                                                               {"bf16", "bf16"},
                                                                               {"bfloat16", "bf16"},
                                                                               {"e4m3", "fp8"},
                                                                               {"e5m2", "fp8"},
                                                                               {"fp8", "fp8"}}};
  const std::string text = lower(name);
  bool named = false;
  for (const auto& [word, type] : kTypes) {
    if (text.find(word) == std::string::npos) continue;
    if (!tensor.contains(type)) return false;
    named = true;
  }
  return named || tensor.contains("fp16");
}

// Tensor cores did work of a type that nobody counted.
bool misses_tensor_work(const std::map<std::string, Maybe>& counters, const Sums& sums,
                        const Tensor& tensor, std::string_view name, const Work& work) {
  if (tensor.known > 0) return false;
  const bool proven = proves_tensor_cores(counters, sums), named = names_tensor_cores(name);
  if (!tensor.complete) return proven || named;
  if (value_of(sums, Quantity::tensor_instructions) == 0.0) return false;
  const auto& types = work.flops.tensor;
  if (named && !counts_types_of(name, types)) return true;
  // Else they worked on integers.
  const bool all = types.contains("fp16") && types.contains("bf16") && types.contains("tf32");
  const bool integers =
      value_of(sums, Quantity::integer_tensor_instructions).value_or(0) > 0 || !work.ops.empty();
  return proven && !all && !integers;
}

void take_total(const Tensor& tensor, bool misses, bool moves, Work& work) {
  Flops& flops = work.flops;
  Maybe cores;
  for (const Maybe& part : {flops.fp64, flops.fp32, flops.fp16}) {
    if (part) cores = cores.value_or(0) + *part;
  }
  if (!cores && moves) cores = 0;
  if (!cores && !tensor.collected) return;
  if (misses) {
    // The work was done where nobody counted: a sum of the rest would show an idle kernel.
    work.flags.emplace_back("tensor_inferred");
    return;
  }
  if (!cores && tensor.known == 0) {
    work.flags.emplace_back("cuda_cores_unknown");
    return;
  }
  if (!cores) work.flags.emplace_back("cuda_cores_unknown");
  if (!tensor.complete) work.flags.emplace_back("tensor_unknown");
  flops.total = cores.value_or(0) + tensor.known;
}

}  // namespace

std::map<std::string, double> sparse_operations(const std::map<std::string, Maybe>& counters) {
  std::map<std::string, double> sparse;
  for (const auto& [metric, value] : counters) {
    if (value.value_or(0) <= 0 || metric.find("_sparsity_on") == std::string::npos) continue;
    const MetricRole* role = role_of(metric);
    if (role == nullptr ||
        (role->quantity != Quantity::flops_tensor && role->quantity != Quantity::ops_tensor))
      continue;
    sparse[std::string(role->type)] += role->weight * *value;
  }
  return sparse;
}

bool names_tensor_cores(std::string_view name) {
  // CUTLASS, cuBLAS and cuDNN put the instruction's shape into the name: s16816 is m16n8k16.
  // What cuBLAS calls nvjet has been written for tensor cores alone.
  static constexpr std::array<std::string_view, 20> kWords = {
      "nvjet",    "hmma",      "imma",       "gmma",        "utcmma", "qmma",  "xmma",
      "tensorop", "tensor_op", "tensorcore", "tensor_core", "s884",   "s1688", "s16816",
      "h884",     "h1688",     "h16816",     "mma_tensor",  "i8816",  "i16832"};
  const std::string text = lower(name);
  const auto has = [&](std::string_view word) { return text.find(word) != std::string::npos; };
  // cuDNN and cuBLAS have xmma kernels for the CUDA cores too: FP32 in, FP32 accumulated.
  if (has("ffma") || has("_f32f32_f32f32_f32")) return false;
  if (std::any_of(kWords.begin(), kWords.end(), has)) return true;
  const bool matrix = has("gemm") || has("conv") || has("fprop") || has("dgrad") || has("wgrad") ||
                      has("attention") || has("flash") || has("fmha");
  return matrix && (has("tf32") || has("bf16") || has("bfloat16") || has("e4m3") || has("e5m2"));
}

Work work_of(const std::map<std::string, Maybe>& counters, std::uint64_t threads,
             std::string_view name) {
  const Sums sums = sums_of(counters);
  Work work;
  work.flops.fp64 = cuda_cores(counters, sums, Quantity::flops_fp64, 'd');
  work.flops.fp32 = cuda_cores(counters, sums, Quantity::flops_fp32, 'f');
  work.flops.fp16 = cuda_cores(counters, sums, Quantity::flops_fp16, 'h');
  const bool moves = may_be_moves(counters, work.flops, threads);
  if (moves) {
    work.flops.fp16.reset();
    work.flags.emplace_back("hfma_moves");
  }
  const Tensor tensor = take_tensor(sums, work);
  take_total(tensor, misses_tensor_work(counters, sums, tensor, name, work), moves, work);
  check_integers(sums, tensor, name, work);
  check_narrow(counters, work);

  Bytes& bytes = work.bytes;
  bytes.dram_read = value_of(sums, Quantity::bytes_dram_read);
  bytes.dram_write = value_of(sums, Quantity::bytes_dram_write);
  if (bytes.dram_read && bytes.dram_write) bytes.dram = *bytes.dram_read + *bytes.dram_write;
  if (!bytes.dram) bytes.dram = value_of(sums, Quantity::bytes_dram);
  bytes.l2 = value_of(sums, Quantity::bytes_l2);
  bytes.l1 = value_of(sums, Quantity::bytes_l1);
  check_l1(sums, work);
  check_l2(sums, work);
  work.duration_ns = value_of(sums, Quantity::duration_ns);
  return work;
}

}  // namespace gable

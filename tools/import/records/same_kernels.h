// SPDX-License-Identifier: Apache-2.0
// Which names of two files' kernels are the same kernel's: the one rule by which counters belong to
// times, and files of counters complete each other.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "analysis/events/function_table.h"
#include "tools/import/records/kernel_name.h"

namespace gable {

class SameKernels {
 public:
  using Functions = std::set<FunctionId>;
  SameKernels(const FunctionTable& functions, const Functions& one, const Functions& other);

  // The same number: the same kernel.
  [[nodiscard]] std::uint32_t of(FunctionId function) const;
  // Its name, or those that it could stand for, tell instances of a template or functions of one
  // name not apart: it is of none.
  [[nodiscard]] bool is_unclear(FunctionId function) const { return unclear_.contains(function); }

 private:
  struct Kernel {
    KernelName name;
    std::vector<FunctionId> functions;
    bool of_one = false, of_other = false;
  };
  // What two names have alike that may be one kernel's; empty: it does not apply.
  using Likeness = std::function<std::string(const KernelName&)>;
  using MayBe = bool (*)(const KernelName&, const KernelName&);
  void add(const FunctionTable& functions, FunctionId function, bool Kernel::*side);
  void join(const Likeness& alike, MayBe may_be);

  std::vector<Kernel> kernels_;
  std::map<std::string, std::uint32_t> by_name_;
  std::map<FunctionId, std::uint32_t> by_function_;
  std::vector<std::uint32_t> number_;  // of kernels_
  Functions unclear_;
};

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
#include "tools/import/records/same_kernels.h"

#include <utility>

namespace gable {
namespace {

bool always(const KernelName&, const KernelName&) { return true; }

// `k` is `a::k<float>`, and `b::k` is not.
bool one_stands_for_other(const KernelName& one, const KernelName& other) {
  const auto stands = [](const KernelName& bare, const KernelName& full) {
    return bare.is_bare() &&
           (full.function == bare.function || full.function.ends_with("::" + bare.function));
  };
  return stands(one, other) || stands(other, one);
}

}  // namespace

SameKernels::SameKernels(const FunctionTable& functions, const Functions& one,
                         const Functions& other) {
  for (const FunctionId function : one) add(functions, function, &Kernel::of_one);
  for (const FunctionId function : other) add(functions, function, &Kernel::of_other);
  for (std::uint32_t i = 0; i < kernels_.size(); ++i) number_.push_back(i);
  // Template arguments tell an instance, whatever its parameters are called.
  join([](const KernelName& name) { return name.has_arguments ? name.instance : std::string(); },
       &always);
  join([](const KernelName& name) { return name.without_lambdas; }, &always);
  join([](const KernelName& name) { return std::string(name.last_part()); }, &one_stands_for_other);
}

std::uint32_t SameKernels::of(FunctionId function) const {
  return number_[by_function_.at(function)];
}

void SameKernels::add(const FunctionTable& functions, FunctionId function, bool Kernel::*side) {
  const auto known = by_function_.find(function);
  if (known != by_function_.end()) {
    kernels_[known->second].*side = true;
    return;
  }
  KernelName name = kernel_name(functions.full_name(function));
  const auto next = static_cast<std::uint32_t>(kernels_.size());
  const auto place = by_name_.try_emplace(name.instance + name.parameters, next).first->second;
  if (place == next) kernels_.push_back({std::move(name), {}});
  kernels_[place].functions.push_back(function);
  kernels_[place].*side = true;
  by_function_.emplace(function, place);
}

// Of kernels that no rule before has joined, where each side has exactly one that is alike.
void SameKernels::join(const Likeness& alike, MayBe may_be) {
  std::map<std::string, std::vector<std::uint32_t>> groups;
  for (std::uint32_t i = 0; i < kernels_.size(); ++i) {
    std::string key = alike(kernels_[i].name);
    if (!key.empty()) groups[std::move(key)].push_back(i);
  }
  const auto is_joined = [this](std::uint32_t i) {
    return (kernels_[i].of_one && kernels_[i].of_other) || number_[i] != i;
  };
  for (const auto& [key, group] : groups) {
    std::vector<std::uint32_t> ones, others;
    for (const std::uint32_t i : group) {
      if (kernels_[i].of_one) ones.push_back(i);
      if (kernels_[i].of_other) others.push_back(i);
    }
    if (ones.size() == 1 && others.size() == 1) {
      const std::uint32_t one = ones.front(), other = others.front();
      if (one == other || is_joined(one) || is_joined(other) ||
          !may_be(kernels_[one].name, kernels_[other].name))
        continue;
      number_[other] = number_[one];
      kernels_[one].of_other = kernels_[other].of_one = true;
      continue;
    }
    for (const std::uint32_t one : ones) {
      for (const std::uint32_t other : others) {
        if (one == other || !may_be(kernels_[one].name, kernels_[other].name)) continue;
        for (const std::uint32_t each : {one, other})
          if (!is_joined(each))
            unclear_.insert(kernels_[each].functions.begin(), kernels_[each].functions.end());
      }
    }
  }
}

}  // namespace gable

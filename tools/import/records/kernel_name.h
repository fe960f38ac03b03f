// SPDX-License-Identifier: Apache-2.0
// A kernel's name as far as tools agree on it. They demangle with different libraries: one writes
// `k<4, true>(float const*, A)` where another writes `void k<(int)4, (bool)1>(const float *, T2)`,
// and ncu writes `k` when asked so.
#pragma once

#include <string>
#include <string_view>

namespace gable {

struct KernelName {
  std::string instance;    // with template arguments; without return type and parameters
  std::string parameters;  // with their brackets
  // `instance` with '*' for each argument that has a lambda in it: of the function around a lambda
  // some tools write the parameters as T1, T2. Empty without one.
  std::string without_lambdas;
  std::string function;  // with namespaces; without template arguments
  bool has_arguments = false;

  // Neither arguments nor parameters: it may stand for any instance.
  [[nodiscard]] bool is_bare() const { return !has_arguments && parameters.empty(); }
  // `function` without namespaces.
  [[nodiscard]] std::string_view last_part() const;
};

// Of a demangled name.
[[nodiscard]] KernelName kernel_name(std::string_view name);

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// Kernel functions by their symbol (mangled name). As in LayerTree, they are interned, never
// removed, bounded, and safe on any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "analysis/events/events.h"

namespace gable {

class FunctionTable {
 public:
  // Symbol "(other)"; also stands for what exceeds the bound.
  static constexpr FunctionId kOther = 0;

  // `max_bytes`: most bytes of all symbols together.
  explicit FunctionTable(std::size_t max_functions = 65536,
                         std::size_t max_bytes = std::size_t{16} << 20);
  ~FunctionTable();
  FunctionTable(const FunctionTable&) = delete;
  FunctionTable& operator=(const FunctionTable&) = delete;

  FunctionId intern(std::string_view symbol);
  [[nodiscard]] std::string symbol(FunctionId id) const;
  // The name, demangled if possible.
  [[nodiscard]] std::string full_name(FunctionId id) const;
  // The name for reports, at most kMaxNameBytes long: a longer one becomes its begin, its end and a
  // unique number.
  [[nodiscard]] std::string name(FunctionId id) const;
  // Where the function is written: "kernels.py:12". A symbol that several places have has none.
  void set_place(std::string_view symbol, std::string_view place);
  [[nodiscard]] std::string place(FunctionId id) const;  // empty: unknown
  [[nodiscard]] std::size_t size() const;
  // How often intern() got a symbol that exceeds the bounds.
  [[nodiscard]] std::uint64_t folded() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gable

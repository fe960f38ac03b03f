// SPDX-License-Identifier: Apache-2.0
// Which counters belong to which timed kernel: by name, grid, block and order.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tools/import/records/imported.h"

namespace gable {

class Join {
 public:
  // Takes the counters out of `imported`, adds the notes, and reads the kernels, whose order is the
  // one in which they are read.
  explicit Join(Imported& imported);
  ~Join();
  Join(const Join&) = delete;
  Join& operator=(const Join&) = delete;

  // The counters of each kernel, called in the kernels' order; nullptr: none.
  [[nodiscard]] const Imported::CounterLaunch* of(const ImportedKernel& kernel);

 private:
  class Groups;
  void join(Groups& groups);
  void tell();
  std::uint32_t mean_of(const std::vector<std::uint32_t>& counters);

  Imported& imported_;
  std::vector<Imported::CounterLaunch> counters_;  // counters of single launches, then means
  std::vector<bool> taken_;
  std::uint32_t singles_;
  std::unique_ptr<Groups> groups_;
  std::uint64_t by_order_ = 0, by_sums_ = 0;
};

}  // namespace gable

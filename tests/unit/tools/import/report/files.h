// SPDX-License-Identifier: Apache-2.0
// What files say, put together by hand.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/import/records/imported.h"

namespace gable {

struct Files {
  using Values = std::vector<std::pair<std::uint32_t, double>>;

  static LaunchShape shape(std::uint32_t grid) {
    LaunchShape shape;
    shape.grid = {grid, grid == 0 ? 0u : 1u, grid == 0 ? 0u : 1u};
    shape.block = grid == 0 ? Dim3{0, 0, 0} : Dim3{64, 1, 1};
    return shape;
  }

  // Kernels run one behind the other, in the order in which they are added, on device 0.
  ImportedKernel kernel(std::string_view name, std::uint64_t start, std::uint64_t end,
                        const LaunchShape& shape) {
    ImportedKernel kernel;
    kernel.function = imported.functions.intern(name);
    kernel.shape = imported.shapes.intern(shape);
    kernel.start_ns = start;
    kernel.end_ns = end;
    return kernel;
  }
  void timed(std::string_view name, const LaunchShape& shape) {
    at_ += 100;
    imported.kernels.add(kernel(name, at_, at_ + 10, shape));
  }
  void timed(std::string_view name, std::uint32_t grid = 4) { timed(name, shape(grid)); }

  void counted(std::string_view name, const LaunchShape& shape, Values values) {
    Imported::CounterLaunch& launch = imported.counters.emplace_back();
    launch.function = imported.functions.intern(name);
    launch.shape = imported.shapes.intern(shape);
    launch.values = std::move(values);
  }
  void counted(std::string_view name, double value, std::uint32_t grid = 4) {
    counted(name, shape(grid), {{0, value}});
  }

  // How many of the notes say all of that.
  [[nodiscard]] static long notes_with(const std::vector<std::string>& notes,
                                       const std::vector<std::string>& pieces) {
    return std::count_if(notes.begin(), notes.end(), [&](const std::string& note) {
      return std::all_of(pieces.begin(), pieces.end(), [&](const std::string& piece) {
        return note.find(piece) != std::string::npos;
      });
    });
  }

  Imported imported;

 private:
  std::uint64_t at_ = 0;
};

}  // namespace gable

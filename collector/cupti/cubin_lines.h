// SPDX-License-Identifier: Apache-2.0
// Where kernels are written, by the lines that their compilers left in the GPU's code: Triton does
// unless TRITON_DISABLE_LINE_INFO is set, nvcc with -lineinfo.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gable {

struct KernelLine {
  std::string symbol;  // mangled
  std::string file;    // as the compiler was given it, with its folder
  std::uint64_t line = 0;
  friend bool operator==(const KernelLine&, const KernelLine&) = default;
};

// Of each function in a module's code (an ELF file) the line where it begins: sections .debug_line
// of DWARF 2 to 4. What has none, is of another form or is damaged has no row.
[[nodiscard]] std::vector<KernelLine> kernel_lines(std::span<const std::uint8_t> cubin);

// "kernels.py:12": without the folder of the program, or from the package on; of files elsewhere
// the name alone. `here`: the program's folder.
[[nodiscard]] std::string shown_line(const KernelLine& line, const std::string& here);

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// The tensor cores, by mma.sync and wgmma of each type: the kernels that `gable ceilings` times.
#include "tests/gpu/truth/ptx_work.h"
#include "tests/gpu/truth/truth.h"
#include "tools/ceilings/ceilings_kernels.h"

namespace gable::truth {

std::vector<Kernel> tensor_kernels(int capability, const Memory& memory) {
  static const std::string kTensor = "_tensor";
  std::vector<Kernel> kernels;
  std::vector<const RoofKernel*> roofs = roof_kernels_of(capability);
  // Hopper's roofs are wgmma's; mma.sync of the chips before runs there too, but for FP8.
  for (const RoofKernel& roof : roof_kernels()) {
    const bool before = roof.target == "sm_75" || roof.target == "sm_80";
    if (before && capability == 90 && roof.highest < capability) roofs.push_back(&roof);
  }
  for (const RoofKernel* roof : roofs) {
    const auto at = roof->roof.find(kTensor);
    if (at == std::string::npos) continue;
    Kernel kernel;
    kernel.name = roof->symbol;
    kernel.ptx = roof->ptx;
    kernel.grid = kGrid;
    kernel.block = roof->block;
    kernel.turns = 200;
    kernel.out = memory.out;
    expect_work(kernel, {});
    const std::string type = roof->roof.substr(0, at);
    const bool integers = type.rfind("int", 0) == 0;
    Expectation tensor;
    tensor.quantity = (integers ? "ops." : "flops.tensor.") + type;
    tensor.value = static_cast<double>(kernel.grid) * kernel.block *
                   ptx_work(kernel.ptx, {}).of("tensor", kernel.turns);
    tensor.why = roof->how + ": 2 m n k of each instruction";
    if (integers) tensor.may_be_null = "this chip's integer tensor operations may have no metric";
    kernel.expected.push_back(tensor);
    kernels.push_back(kernel);
  }
  return kernels;
}

}  // namespace gable::truth

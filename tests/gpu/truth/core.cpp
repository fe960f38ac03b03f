// SPDX-License-Identifier: Apache-2.0
// Kernels for the CUDA cores: one instruction over and over, in single and double precision, for
// some of the threads only, in integers, and beside constants that have to be moved.
#include <cstdio>

#include "tests/gpu/truth/truth.h"

namespace gable::truth {
namespace {

constexpr int kInstructions = 512, kChains = 16;

// Chains that the compiler can neither shorten nor fuse: rounding is explicit, and the values
// depend on the thread.
Form chain(const std::string& name, const std::string& operation, const std::string& type,
           const std::string& guard = "") {
  const bool wide = type == "f64";
  Form form;
  form.name = name;
  form.target = "sm_70";
  form.version = "6.3";
  form.registers = "  .reg ." + type + " a<16>, b, c;\n  .reg .f32 low;\n  .reg .pred odd;\n";
  form.setup = "  cvt.rn." + type + ".u32 b, tid;\n  cvt.rn." + type + ".u32 c, cta;\n" +
               "  and.b32 sum, tid, 1;\n  setp.ne.u32 odd, sum, 0;\n";
  for (int i = 0; i < kChains; ++i)
    form.setup += "  cvt.rn." + type + ".u32 a" + std::to_string(i) + ", gid;\n";
  for (int i = 0; i < kInstructions; ++i) {
    const std::string a = "a" + std::to_string(i % kChains);
    form.body += "  " + guard + operation + ".rn." + type + " " + a + ", " + a +
                 (operation == "fma" ? ", b, c;\n" : ", b;\n");
  }
  // Integer operations bring the chains together: no count is added.
  form.result = "  mov.b32 sum, 0;\n";
  if (!wide) form.registers += "  .reg .b32 bits;\n";
  if (wide) form.registers += "  .reg .b64 bits, all;\n";
  if (wide) form.result += "  mov.b64 all, 0;\n";
  for (int i = 0; i < kChains; ++i) {
    const std::string a = "a" + std::to_string(i);
    form.result += wide ? "  mov.b64 bits, " + a + ";\n  xor.b64 all, all, bits;\n"
                        : "  mov.b32 bits, " + a + ";\n  xor.b32 sum, sum, bits;\n";
  }
  if (wide) form.result += "  cvt.u32.u64 sum, all;\n";
  return form;
}

// Eight lanes of a warp multiply and add, the others add.
Form divergent() {
  Form form = chain("truth_divergent", "fma", "f32");
  form.registers += "  .reg .pred low_lane;\n  .reg .b32 lane;\n";
  form.setup += "  and.b32 lane, tid, 31;\n  setp.lt.u32 low_lane, lane, 8;\n";
  std::string additions;
  for (int i = 0; i < kInstructions; ++i) {
    const std::string a = "a" + std::to_string(i % kChains);
    additions += "  add.rn.f32 " + a + ", " + a + ", c;\n";
  }
  form.body = "  @low_lane bra low_;\nhigh_:\n" + additions + "  bra join_;\nlow_:\n" + form.body +
              "join_:\n";
  form.shares = {{"high_", 0.75}, {"low_", 0.25}};
  return form;
}

Form integers() {
  Form form = chain("truth_integer", "fma", "f32");
  form.registers = "  .reg .b32 x<16>, k, r;\n";
  form.setup = "  mov.u32 k, ntid;\n";
  form.body = form.result = "";
  for (int i = 0; i < kChains; ++i)
    form.setup += "  add.u32 x" + std::to_string(i) + ", gid, " + std::to_string(977 * i) + ";\n";
  for (int i = 0; i < kInstructions / 4; ++i) {
    const std::string x = "x" + std::to_string(i % kChains);
    form.body += "  mad.lo.u32 " + x + ", " + x + ", k, gid;\n  shr.u32 r, " + x +
                 ", 7;\n  xor.b32 " + x + ", " + x + ", r;\n  min.u32 " + x + ", " + x +
                 ", 0x7FFFFFF1;\n";
  }
  form.result = "  mov.b32 sum, 0;\n";
  for (int i = 0; i < kChains; ++i)
    form.result += "  xor.b32 sum, sum, x" + std::to_string(i) + ";\n";
  return form;
}

// Begins with constants, of which the compiler moves every other one by HFMA2. One more of its
// moves may follow the loop.
Form constants() {
  Form form = chain("truth_constants", "fma", "f32");
  form.setup =
      "  cvt.rn.f32.u32 b, tid;\n  cvt.rn.f32.u32 c, cta;\n"
      "  cvt.rn.f32.u32 a14, gid;\n  cvt.rn.f32.u32 a15, gid;\n";
  for (int i = 0; i < kChains - 2; ++i) {
    char value[16];
    std::snprintf(value, sizeof value, "0f%08X", 0x3F800000U + 0x10000U * static_cast<unsigned>(i));
    form.setup += "  mov.f32 a" + std::to_string(i) + ", " + value + ";\n";
  }
  form.turns = 20;
  return form;
}

}  // namespace

std::vector<Kernel> core_kernels(const Memory& memory) {
  std::vector<Form> forms = {
      chain("truth_fadd", "add", "f32"),
      chain("truth_fmul", "mul", "f32"),
      chain("truth_ffma", "fma", "f32"),
      chain("truth_dadd", "add", "f64"),
      chain("truth_dmul", "mul", "f64"),
      chain("truth_dfma", "fma", "f64"),
      divergent(),
      integers(),
      constants(),
  };
  Form predicated = chain("truth_predicated", "fma", "f32", "@odd ");
  predicated.shares = {{"odd", 0.5}};
  forms.push_back(predicated);
  std::vector<Kernel> kernels;
  kernels.reserve(forms.size());
  for (const Form& form : forms) kernels.push_back(kernel_of(form, memory));
  return kernels;
}

std::vector<Kernel> time_kernels(const Memory& memory) {
  std::vector<Kernel> kernels;
  for (const auto& [name, turns] : {std::pair{"truth_time_60us", 60U},
                                    {"truth_time_300us", 300U},
                                    {"truth_time_3ms", 3000U},
                                    {"truth_time_20ms", 20000U}}) {
    Form form = chain(name, "fma", "f32");
    form.turns = turns;
    Kernel kernel = kernel_of(form, memory);
    kernel.expected.clear();
    kernels.push_back(kernel);
  }
  return kernels;
}

std::vector<Kernel> half_kernels(int capability, const Memory& memory) {
  std::vector<Kernel> kernels;
  const auto add = [&](const std::string& name, const std::string& opcode,
                       const std::string& target, const std::string& version, bool fused) {
    Form form = chain(name, "fma", "f32");
    form.target = target;
    form.version = version;
    form.registers = "  .reg .b32 x<16>, b, c;\n";
    form.setup =
        "  and.b32 b, tid, 0x3F003F00;\n  or.b32 b, b, 0x3F003F00;\n"
        "  and.b32 c, cta, 0x00070007;\n";
    form.body = form.result = "";
    for (int i = 0; i < kChains; ++i)
      form.setup += "  add.u32 x" + std::to_string(i) + ", gid, " + std::to_string(i) + ";\n";
    for (int i = 0; i < kInstructions; ++i) {
      const std::string x = "x" + std::to_string(i % kChains);
      form.body += "  " + opcode + " " + x + ", " + x + (fused ? ", b, c;\n" : ", b;\n");
    }
    form.result = "  mov.b32 sum, 0;\n";
    for (int i = 0; i < kChains; ++i)
      form.result += "  xor.b32 sum, sum, x" + std::to_string(i) + ";\n";
    kernels.push_back(kernel_of(form, memory));
  };
  add("truth_hadd2", "add.rn.f16x2", "sm_70", "6.3", false);
  add("truth_hmul2", "mul.rn.f16x2", "sm_70", "6.3", false);
  add("truth_hfma2", "fma.rn.f16x2", "sm_70", "6.3", true);
  if (capability >= 80) add("truth_bf16_fma2", "fma.rn.bf16x2", "sm_80", "7.0", true);
  return kernels;
}

}  // namespace gable::truth

// SPDX-License-Identifier: Apache-2.0
// What the tables of `truth` and of `gable ceilings` promise, so that a disassembler can be asked.
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tests/gpu/truth/ptx_work.h"
#include "tests/gpu/truth/truth.h"
#include "tools/ceilings/ceilings_kernels.h"

namespace gable::truth {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kL2Bytes = std::uint64_t{64} << 20;  // of some GPU

void write(const std::string& folder, const std::string& name, const std::string& ptx, Json& line) {
  const std::string path = folder + "/" + name + ".ptx";
  std::ofstream file(path);
  if (!(file << ptx)) throw std::runtime_error("cannot write below " + folder);
  const PtxWork work = ptx_work(ptx, {});
  line["each_turn"] = work.each_turn;
  line["once"] = work.once;
  std::printf("%s\n", line.dump().c_str());
}

}  // namespace

std::vector<Kernel> family(const std::string& name, int capability, const Memory& memory,
                           std::uint64_t l2_bytes) {
  if (name == "core") return core_kernels(memory);
  if (name == "half") return half_kernels(capability, memory);
  if (name == "tensor") return tensor_kernels(capability, memory);
  if (name == "streams") return stream_kernels(memory, l2_bytes);
  if (name == "caches") return cache_kernels(memory, l2_bytes);
  if (name == "times") return time_kernels(memory);
  return {};
}

int write_promises(const std::string& folder, int capability) {
  for (const char* name : {"core", "half", "tensor", "streams", "caches", "times"}) {
    for (const Kernel& kernel : family(name, capability, {}, kL2Bytes)) {
      Json line = {
          {"table", "truth"}, {"family", name}, {"kernel", kernel.name}, {"turns", kernel.turns}};
      line["bytes"] = {{"read", kernel.reads},
                       {"written", kernel.writes},
                       {"shared_read", kernel.shared_reads},
                       {"shared_written", kernel.shared_writes}};
      write(folder, kernel.name, kernel.ptx, line);
    }
  }
  for (const RoofKernel* roof : roof_kernels_of(capability)) {
    Json line = {{"table", "ceilings"},
                 {"family", word_of(roof->kind)},
                 {"kernel", roof->symbol},
                 {"how", roof->how},
                 {"operations", roof->operations}};
    write(folder, roof->symbol, roof->ptx, line);
  }
  return 0;
}

}  // namespace gable::truth

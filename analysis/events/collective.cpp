// SPDX-License-Identifier: Apache-2.0
#include "analysis/events/collective.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <utility>

namespace gable {
namespace {

// In lower case, without what separates words.
std::string plain(std::string_view name) {
  std::string text;
  for (const unsigned char c : name)
    if (std::isalnum(c) != 0) text += static_cast<char>(std::tolower(c));
  return text;
}

// The first that a name holds decides: "reducescatter" before "reduce".
constexpr std::array<std::pair<std::string_view, Collective>, 13> kNames = {{
    {"allreduce", Collective::all_reduce},
    {"allgather", Collective::all_gather},
    {"reducescatter", Collective::reduce_scatter},
    {"alltoall", Collective::all_to_all},
    {"broadcast", Collective::broadcast},
    {"bcast", Collective::broadcast},
    {"sendrecv", Collective::send_receive},
    // What one rank gathers or scatters passes the links of all others once and its own many times.
    {"gather", Collective::unknown},
    {"scatter", Collective::unknown},
    {"reduce", Collective::reduce},
    {"isend", Collective::send_receive},
    {"send", Collective::send_receive},
    {"recv", Collective::send_receive},
}};

// Parts of kernels' names, in lower case.
constexpr std::array<std::string_view, 8> kKernels = {
    "cross_device_reduce",  // vLLM and SGLang
    "nvshmem",              // NVSHMEM
    "one_shot_all_reduce",  // PyTorch's symmetric memory, like the next three
    "two_shot_all_reduce",  //
    "multimem_all_reduce",  //
    "multimem_all_gather",  //
    "allreduce_fusion",     // TensorRT-LLM and FlashInfer
    "mscclpp",              // MSCCL++
};

}  // namespace

Collective collective_named(std::string_view name) {
  const std::string text = plain(name);
  for (const auto& [part, kind] : kNames)
    if (text.find(part) != std::string::npos) return kind;
  return Collective::unknown;
}

std::optional<double> bus_bytes(const CollectiveCall& call) {
  if (!call.bytes) return std::nullopt;
  const auto bytes = static_cast<double>(*call.bytes);
  const double ranks = call.ranks;
  switch (call.kind) {
    case Collective::all_reduce:
      return ranks > 0 ? std::optional(bytes * 2 * (ranks - 1) / ranks) : std::nullopt;
    case Collective::all_gather:
    case Collective::reduce_scatter:
    case Collective::all_to_all:
      return ranks > 0 ? std::optional(bytes * (ranks - 1) / ranks) : std::nullopt;
    case Collective::broadcast:
    case Collective::reduce:
    case Collective::send_receive:
      return bytes;
    case Collective::unknown:
      break;
  }
  return std::nullopt;
}

bool is_collective(std::string_view kernel) {
  std::string lower(kernel);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto has = [&](std::string_view part) { return lower.find(part) != std::string::npos; };
  // "ncclDevKernel_AllReduce…", or mangled.
  if (lower.starts_with("nccl") ||
      (lower.starts_with("_z") && lower.substr(0, 12).find("nccl") != std::string::npos))
    return true;
  // DeepEP's, between experts on other GPUs; it has kernels that only prepare, too.
  if (has("deep_ep")) return has("intranode") || has("internode");
  return std::any_of(kKernels.begin(), kKernels.end(), has);
}

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// Where bytes hold the kernels.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/base/display.h"
#include "analysis/events/kernel_kind.h"
#include "tools/advice/advice_rules.h"

namespace gable {
namespace {

constexpr double kNearRoof = 0.75;       // of the memory roof: the accesses themselves are good
constexpr double kMuch = 0.25;           // of the GPU time
constexpr double kCoalescedSectors = 4;  // a warp's 32 loads of 4 bytes next to each other
constexpr double kManySectors = 2 * kCoalescedSectors;

bool memory_holds(const PlotRow& row) {
  const Roof& roof = row.sum.roof;
  return roof.compute_ns && roof.memory_ns && *roof.memory_ns >= *roof.compute_ns &&
         *roof.memory_ns > 0 && roof.bound != "communication" && roof.bound != "overhead";
}

// In each layer, memory-bound kernels that follow each other could read and write once: what all
// but the one with the most bytes take.
void advise_fusion(const AdviceFacts& facts, std::vector<Advice>& advice) {
  struct Layer {
    double time = 0, longest = 0, launches = 0;
  };
  std::map<const LayerRow*, Layer> layers;
  for (const PlotRow& row : facts.kernels) {
    if (!memory_holds(row) || !row.sum.time_total_ns || row.layer == nullptr) continue;
    if (kind_of_kernel(row.name) != KernelKind::other) continue;
    Layer& layer = layers[row.layer];
    layer.time += *row.sum.time_total_ns;
    layer.longest = std::max(layer.longest, *row.sum.time_total_ns);
    layer.launches += row.sum.launches.value_or(0);
  }
  double saving = 0, time = 0;
  std::size_t count = 0;
  for (const auto& [layer, sum] : layers) {
    if (sum.launches < 2 || sum.time <= sum.longest) continue;
    saving += sum.time - sum.longest;
    time += sum.time;
    ++count;
  }
  if (saving < kLeastShare * facts.unit_ns) return;
  advice.push_back({"fuse",
                    "Fuse kernels that are bound by memory (torch.compile, fused optimizers and "
                    "norms), so that data is read and written once.",
                    percent(time / facts.kernels_ns) +
                        " of the GPU time is several memory-bound kernels in one layer (" +
                        std::to_string(count) + (count == 1 ? " layer)." : " layers)."),
                    saving});
}

void advise_access(const AdviceFacts& facts, std::vector<Advice>& advice) {
  const auto sectors = [](const PlotRow& row) -> Maybe {
    const auto& counters = row.kernel->counters;
    const auto found = counters.find("smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum");
    const auto loads = counters.find("smsp__sass_inst_executed_op_global_ld.sum");
    if (found == counters.end() || loads == counters.end() || !found->second || !loads->second ||
        *loads->second <= 0)
      return std::nullopt;
    return *found->second / *loads->second;
  };
  const AdviceFacts::Part strided = facts.part(
      [&](const PlotRow& row) {
        return memory_holds(row) && sectors(row).value_or(0) > kManySectors;
      },
      [](const PlotRow& row) { return row.sum.roof.memory_ns; });
  if (strided.saving_ns >= kLeastShare * facts.unit_ns) {
    advice.push_back({"strided_access",
                      "Let the threads of a warp read neighbouring addresses: change the layout, "
                      "or stage through shared memory.",
                      percent(strided.share(facts.kernels_ns)) +
                          " of the GPU time is memory-bound kernels with more than " +
                          digits(kManySectors) + " L1 sectors for each load (" +
                          digits(kCoalescedSectors) + " when coalesced, 4 bytes a thread).",
                      strided.saving_ns});
  }
  const AdviceFacts::Part below = facts.part(
      [](const PlotRow& row) {
        return memory_holds(row) && row.sum.roof.bound == "memory" &&
               row.sum.roof.fraction.value_or(1) < kNearRoof;
      },
      [](const PlotRow& row) { return row.sum.roof.memory_ns; });
  if (below.saving_ns >= kLeastShare * facts.unit_ns) {
    advice.push_back({"tile",
                      "Use the bytes better: tile for cache or shared memory, wider loads; "
                      "gable profile --metrics cache shows hit rates and sectors per load.",
                      percent(below.share(facts.kernels_ns)) +
                          " of the GPU time is bound by memory at less than " + percent(kNearRoof) +
                          " of its roof.",
                      below.saving_ns});
  }
}

void advise_bandwidth(const AdviceFacts& facts, std::vector<Advice>& advice) {
  const AdviceFacts::Part near = facts.part([](const PlotRow& row) {
    return memory_holds(row) && row.sum.roof.fraction.value_or(0) >= kNearRoof;
  });
  if (near.share(facts.kernels_ns) < kMuch) return;
  advice.push_back({"more_bandwidth",
                    "Move fewer bytes (smaller types, fused kernels), or take a GPU with more "
                    "memory bandwidth: the kernels themselves leave little.",
                    percent(near.share(facts.kernels_ns)) + " of the GPU time is within " +
                        percent(kNearRoof) + " or more of the memory roof.",
                    std::nullopt});
}

// The forwards that make one token after another. Looked up, as layers and kernels may be very
// many.
class Decoding {
 public:
  explicit Decoding(const Report& report) {
    for (const LayerRow& layer : report.layers) {
      if (!layer.tokens || layer.tokens->per_sequence != 1) continue;
      lengths_.insert(layer.path.size());
      paths_.insert(layer.path);
    }
  }
  [[nodiscard]] bool has(const LayerRow* layer) const {
    if (layer == nullptr) return false;
    return std::any_of(lengths_.begin(), lengths_.end(), [&](std::size_t length) {
      const auto begin = layer->path.begin();
      return length <= layer->path.size() &&
             paths_.contains({begin, begin + static_cast<std::ptrdiff_t>(length)});
    });
  }

 private:
  std::set<std::size_t> lengths_;
  std::set<std::vector<std::string>> paths_;
};

bool is_softmax(const PlotRow& row) {
  return row.name.find("softmax") != std::string::npos ||
         row.name.find("SoftMax") != std::string::npos;
}

}  // namespace

void advise_on_memory(const AdviceFacts& facts, std::vector<Advice>& advice) {
  advise_fusion(facts, advice);
  advise_access(facts, advice);
  advise_bandwidth(facts, advice);

  for (const KernelKind kind :
       {KernelKind::layout, KernelKind::cast, KernelKind::padding, KernelKind::copy}) {
    const AdviceFacts::Part part =
        facts.part([&](const PlotRow& row) { return kind_of_kernel(row.name) == kind; },
                   [](const PlotRow&) { return Maybe(0.0); });
    if (part.time_ns < kLeastShare * facts.unit_ns) continue;
    const char* action = kind == KernelKind::layout
                             ? "Keep one layout (channels_last from the input on)."
                         : kind == KernelKind::cast
                             ? "Keep data in one type, or cast once: weights that are cast in each "
                               "step can be kept in that type."
                         : kind == KernelKind::padding
                             ? "Choose sizes that need no padding, or let the convolution pad."
                             : "Avoid copies: views instead of contiguous(), outputs written in "
                               "place instead of concatenated.";
    advice.push_back({std::string(flag_of(kind)), action,
                      percent(part.share(facts.kernels_ns)) + " of the GPU time is " +
                          std::string(words_for(kind)) + ", which compute nothing.",
                      part.saving_ns});
  }

  const AdviceFacts::Part softmax = facts.part(
      [](const PlotRow& row) {
        return is_softmax(row) && memory_holds(row) && row.layer != nullptr &&
               !row.layer->path.empty() && row.layer->path.back().find("att") != std::string::npos;
      },
      [](const PlotRow&) { return Maybe(0.0); });
  if (softmax.time_ns >= kLeastShare * facts.unit_ns) {
    advice.push_back({"fused_attention",
                      "Use fused attention (torch.nn.functional.scaled_dot_product_attention), "
                      "which never writes the matrix of scores.",
                      percent(softmax.share(facts.kernels_ns)) +
                          " of the GPU time is softmax kernels of attention layers.",
                      softmax.saving_ns});
  }

  const Decoding decoding(*facts.report);
  const AdviceFacts::Part tokens =
      facts.part([&](const PlotRow& row) { return memory_holds(row) && decoding.has(row.layer); },
                 [](const PlotRow& row) { return Maybe(*row.sum.time_total_ns / 2); });
  if (tokens.saving_ns >= kLeastShare * facts.unit_ns) {
    advice.push_back({"quantise",
                      "Quantise weights or the KV cache: half the bytes is half the time here; or "
                      "serve more sequences at once.",
                      percent(tokens.share(facts.kernels_ns)) +
                          " of the GPU time is decoding, held by the bytes that each token reads.",
                      tokens.saving_ns});
  }
}

}  // namespace gable

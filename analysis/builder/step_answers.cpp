// SPDX-License-Identifier: Apache-2.0
#include "analysis/builder/step_answers.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "analysis/base/display.h"
#include "analysis/roofline/layer_sum.h"
#include "analysis/roofline/model_work.h"
#include "analysis/step_graph/critical_path.h"
#include "analysis/step_graph/exposed.h"
#include "analysis/step_graph/graph_builder.h"
#include "analysis/step_graph/input_time.h"
#include "analysis/step_graph/step_replay.h"

namespace gable {
namespace {

constexpr double kManyViolated = 0.01;  // of the edges
constexpr std::uint64_t kReplaysOfSaving = 2;

struct KeyHash {
  std::size_t operator()(const LaunchKey& key) const { return hash_of(key); }
};

// One recorded step, replayed.
struct Replayed {
  const StepRecord* record = nullptr;
  StepGraph graph;
  CriticalPath path;
  StepReplay replay;
  std::vector<std::vector<std::uint32_t>> operations;  // by kernel row
  [[nodiscard]] std::uint64_t edges_per_replay() const {
    return (graph.edges.size() / std::max<std::size_t>(graph.steps.size(), 1) + 1) *
           replay.base().steps;
  }
};

// The first step that has a neighbour on both sides.
std::optional<Replayed> replayed(const StepRecord& record) {
  StepGraph graph = build_step_graph(record.steps, {.jitter_ns = record.jitter_ns});
  for (std::size_t step = 1; step + 1 < graph.steps.size(); ++step) {
    CriticalPath path = critical_path(graph, step);
    if (!path.explained()) continue;
    std::optional<StepReplay> replay = StepReplay::of(graph, step);
    if (!replay || !replay->base().settled) continue;
    return Replayed{&record, std::move(graph), std::move(path), *std::move(replay), {}};
  }
  return std::nullopt;
}

void add_piece(const PathPiece& piece, double share, PathTimes& to) {
  const double ns = static_cast<double>(piece.end_ns - piece.start_ns) * share;
  switch (piece.kind) {
    case PieceKind::kernel:
      to.kernels_ns += ns;
      return;
    case PieceKind::collective:
      to.communication_ns += ns;
      return;
    case PieceKind::copy:
    case PieceKind::memset:
      to.copies_ns += ns;
      return;
    case PieceKind::host_function:
    case PieceKind::host_call:
    case PieceKind::wake_up:
    case PieceKind::host_gap:
      to.host_ns += ns;
      return;
    case PieceKind::launch_latency:
    case PieceKind::queue_full:
      to.launches_ns += ns;
      return;
    case PieceKind::stream_gap:
    case PieceKind::graph_gap:
    case PieceKind::overlap:
      to.gaps_ns += ns;
      return;
    case PieceKind::unexplained:
      to.unexplained_ns += ns;
      return;
  }
}

bool is_operation(PieceKind kind) { return kind <= PieceKind::host_function; }

bool is_of_calls(PieceKind kind) {
  return kind == PieceKind::host_call || kind == PieceKind::wake_up || kind == PieceKind::host_gap;
}

bool launches(RecordedCallKind kind) {
  return kind == RecordedCallKind::launch || kind == RecordedCallKind::graph_launch ||
         kind == RecordedCallKind::host_function;
}

// The host's part of the path from the end of each operation that it waited for to its next launch.
std::uint64_t after_waits_ns(const RecordedSteps& steps, const StepGraph& graph,
                             const CriticalPath& path) {
  std::uint64_t sum = 0;
  bool waited = false, operation = false;
  for (const PathPiece& piece : path.pieces) {
    if (piece.kind == PieceKind::unexplained) continue;
    // From an operation the path leads to the host where the host waited for it.
    waited = is_of_calls(piece.kind) && (waited || operation || piece.kind == PieceKind::wake_up);
    operation = is_operation(piece.kind);
    if (piece.kind == PieceKind::host_call &&
        launches(steps.calls[graph.nodes[piece.node].call].kind))
      waited = false;
    if (waited) sum += piece.end_ns - piece.start_ns;
  }
  return sum;
}

// By call, the operation that its thread launches there or next; kNoIndex without one.
std::vector<std::uint32_t> next_operations(const RecordedSteps& steps, const StepGraph& graph) {
  std::vector<std::uint32_t> next(steps.calls.size(), kNoIndex);
  for (const GraphNode& node : graph.nodes)
    if (node.operation != kNoIndex && next[node.call] == kNoIndex) next[node.call] = node.operation;
  std::unordered_map<std::uint32_t, std::uint32_t> of_thread;
  for (std::size_t i = next.size(); i-- > 0;) {
    const auto [later, fresh] = of_thread.try_emplace(steps.calls[i].thread, kNoIndex);
    if (next[i] == kNoIndex) next[i] = later->second;
    later->second = next[i];
  }
  return next;
}

class Answers {
 public:
  Answers(const Profile::State& state, const std::vector<KernelOfLayer>& kernels,
          const LayerIds& ids, const Roofline& roofline, Report& report, std::uint64_t most_edges)
      : ids_(ids), report_(report), edges_left_(most_edges) {
    for (std::size_t i = 0; i < kernels.size(); ++i) rows_.try_emplace(kernels[i].key, i);
    find_fractions(roofline);
    for (const StepRecord& record : state.step_records) {
      if (std::optional<Replayed> step = replayed(record)) {
        steps_.push_back(*std::move(step));
        find_rows(steps_.back());
      }
    }
  }

  std::vector<std::string> fill() {
    if (steps_.empty()) return {};
    fill_graph();
    fill_pieces();
    const StepGraphFacts& graph = *report_.step.graph;
    if (graph.explained >= kEnoughExplained) {
      fill_path();
      fill_exposed();
      fill_savings();
    } else {
      note("The graph of the recorded steps explains " + percent(graph.explained) +
           " of their time, less than " + percent(kEnoughExplained) +
           ": savings are of kernels' time, and a step may gain less.");
    }
    if (!graph.stream_waits_known) {
      note(
          "Which stream waited for which is not recorded: savings in step time are at most what "
          "is given.");
    }
    const double violated = static_cast<double>(graph.violated_edges);
    if (violated > kManyViolated * static_cast<double>(graph.edges)) {
      note(std::to_string(graph.violated_edges) + " of " + std::to_string(graph.edges) +
           " waits that were found in the recorded steps contradict the times there: the critical "
           "path may be wrong.");
    }
    return std::move(notes_);
  }

 private:
  using Rows = std::vector<std::uint32_t>;  // of kernels, ascending

  void note(std::string text) { notes_.push_back(std::move(text)); }
  [[nodiscard]] double share() const { return 1 / static_cast<double>(steps_.size()); }

  // Of its roof. Else that of its layer's own work: as it was counted together, or, where nothing
  // was counted, by formula.
  void find_fractions(const Roofline& roofline) {
    std::set<std::int64_t> counted;
    std::map<std::int64_t, Maybe> of_layer;
    for (const KernelRow& kernel : report_.kernels) {
      if (kernel.flops.total || kernel.bytes.dram) counted.insert(kernel.layer);
      if (kernel.ranges && kernel.roof.fraction) of_layer[kernel.layer] = kernel.roof.fraction;
    }
    for (const KernelRow& kernel : report_.kernels) {
      const auto [found, fresh] = of_layer.try_emplace(kernel.layer);
      const LayerRow& layer = report_.layers[static_cast<std::size_t>(kernel.layer)];
      if (fresh && !counted.contains(kernel.layer) && layer.model && layer.model->self.bytes)
        found->second = fraction_by_formula(roofline, layer);
      fractions_.push_back(kernel.roof.fraction ? kernel.roof.fraction : found->second);
    }
  }

  static Maybe fraction_by_formula(const Roofline& roofline, const LayerRow& layer) {
    LayerSum own(roofline);
    own.add(kernel_of_model(roofline, layer.model->self, layer), true);
    LayerRow filled;
    filled.device = layer.device;
    own.fill(filled);
    return filled.roof.fraction;
  }

  void find_rows(Replayed& step) const {
    std::vector<std::uint32_t> of_key(step.record->work.size(), kNoIndex);
    for (std::size_t key = 0; key < of_key.size(); ++key) {
      const RecordedWork& work = step.record->work[key];
      const auto found = work.kernel ? rows_.find(work.key) : rows_.end();
      if (found != rows_.end()) of_key[key] = static_cast<std::uint32_t>(found->second);
    }
    step.operations.resize(report_.kernels.size());
    for (const StepReplay::Node& node : step.replay.nodes()) {
      if (node.operation == kNoIndex) continue;
      const std::uint32_t key = step.record->steps.operations[node.operation].key;
      if (key < of_key.size() && of_key[key] != kNoIndex)
        step.operations[of_key[key]].push_back(node.operation);
    }
  }

  // Its row and those above.
  void add_to_layers(std::int64_t id, Maybe LayerRow::*sum, double ns) {
    for (std::size_t left = report_.layers.size(); left > 0; --left) {
      LayerRow& row = report_.layers[static_cast<std::size_t>(id)];
      row.*sum = (row.*sum).value_or(0) + ns;
      if (!row.parent) return;
      id = *row.parent;
    }
  }

  // Whether any of the steps says when the program fetched its input.
  [[nodiscard]] bool input_known() const {
    return std::any_of(steps_.begin(), steps_.end(),
                       [](const Replayed& step) { return !step.record->steps.inputs.empty(); });
  }

  void fill_pieces() {
    PathTimes& times = report_.step.critical_path.emplace();
    std::uint64_t input_ns = 0, waits_ns = 0;
    for (const Replayed& step : steps_) {
      const InputTime inputs(step.record->steps.inputs);
      waits_ns += after_waits_ns(step.record->steps, step.graph, step.path);
      for (const PathPiece& piece : step.path.pieces) {
        add_piece(piece, share(), times);
        if (!is_of_calls(piece.kind)) continue;
        const std::uint32_t call = step.graph.nodes[piece.node].call;
        input_ns +=
            inputs.within(step.record->steps.calls[call].thread, piece.start_ns, piece.end_ns);
      }
    }
    times.waits_ns = static_cast<double>(waits_ns) * share();
    if (input_known()) times.input_ns = static_cast<double>(input_ns) * share();
  }

  void fill_path() {
    for (const Replayed& step : steps_) {
      for (std::size_t row = 0; row < step.operations.size(); ++row)
        if (!step.operations[row].empty()) report_.kernels[row].path_ns.emplace();
      const auto next = next_operations(step.record->steps, step.graph);
      for (const PathPiece& piece : step.path.pieces) {
        const GraphNode& node = step.graph.nodes[piece.node];
        const double ns = static_cast<double>(piece.end_ns - piece.start_ns) * share();
        if (is_operation(piece.kind) && node.operation != kNoIndex)
          add_operation(step, node.operation, ns);
        else if (is_of_calls(piece.kind) && next[node.call] != kNoIndex)
          add_host(step, next[node.call], ns);
      }
    }
    fill_zeros();
  }

  void add_operation(const Replayed& step, std::uint32_t operation, double ns) {
    const std::uint32_t key = step.record->steps.operations[operation].key;
    if (key >= step.record->work.size()) return;
    const RecordedWork& work = step.record->work[key];
    if (const auto row = rows_.find(work.key); work.kernel && row != rows_.end())
      path_[row->second] += ns;
    const auto id = ids_.find({work.key.device, work.key.layer});
    if (id != ids_.end()) add_to_layers(id->second, &LayerRow::path_ns, ns);
  }

  void add_host(const Replayed& step, std::uint32_t operation, double ns) {
    const std::uint32_t key = step.record->steps.operations[operation].key;
    if (key >= step.record->work.size()) return;
    const LaunchKey& work = step.record->work[key].key;
    const auto id = ids_.find({work.device, work.layer});
    if (id != ids_.end()) add_to_layers(id->second, &LayerRow::host_path_ns, ns);
  }

  // What ran in a recorded step and is on no path has 0 there; what did not run is unknown.
  void fill_zeros() {
    for (std::size_t row = 0; row < report_.kernels.size(); ++row) {
      KernelRow& kernel = report_.kernels[row];
      if (!kernel.path_ns) continue;
      kernel.path_ns = path_[row];
      for (Maybe LayerRow::*sum : {&LayerRow::path_ns, &LayerRow::host_path_ns})
        add_to_layers(kernel.layer, sum, 0);
    }
  }

  void fill_graph() {
    StepGraphFacts& facts = report_.step.graph.emplace();
    facts.steps = steps_.size();
    Maybe error = 0;
    double kernels_ns = 0, beside_ns = 0;
    for (const Replayed& step : steps_) {
      facts.wall_ns += static_cast<double>(step.path.end_ns - step.path.start_ns) * share();
      facts.explained += *step.path.explained() * share();
      const Maybe own = step.replay.replay_error();
      error = error && own ? Maybe(*error + std::abs(*own) * share()) : std::nullopt;
      facts.edges += step.graph.edges.size();
      for (const std::uint32_t violated : step.graph.violated) facts.violated_edges += violated;
      facts.stream_waits_known = facts.stream_waits_known && step.record->stream_waits_known;
      for (const StepReplay::Node& node : step.replay.nodes()) {
        if (node.kind != NodeClass::kernel && node.kind != NodeClass::collective) continue;
        kernels_ns += static_cast<double>(node.length_ns);
        beside_ns += static_cast<double>(std::min(node.overlapped_ns, node.length_ns));
      }
    }
    facts.replay_error = error;
    if (kernels_ns > 0) facts.overlapped = beside_ns / kernels_ns;
  }

  // One step's part of a mean. Waits that are not known, and a replay that does not settle, leave
  // the low end open.
  void add(StepSaving& sum, const SavingRange& range) const {
    if (range.settled && report_.step.graph->stream_waits_known)
      sum.low_ns += range.low_ns * share();
    sum.high_ns += range.high_ns * share();
  }

  void fill_exposed() {
    ExposedTimes& exposed = report_.step.exposed.emplace();
    if (input_known()) exposed.without.input.emplace();
    exposed.without.waits.emplace();
    for (const Replayed& step : steps_) {
      const ExposedTime times = exposed_time(step.graph, step.path.start_ns, step.path.end_ns);
      const auto add_ns = [this](double& to, std::uint64_t ns) {
        to += static_cast<double>(ns) * share();
      };
      add_ns(exposed.compute_ns, times.compute_ns);
      add_ns(exposed.communication_ns, times.communication_ns);
      add_ns(exposed.copies_ns, times.copies_ns);
      add_ns(exposed.idle_ns, times.idle_ns);
      const auto without = [&](StepSaving& to, const StepReplay::Parts& parts) {
        add(to, step.replay.saving(step.replay.without(parts)));
      };
      without(exposed.without.compute, {.kernels = true});
      without(exposed.without.communication, {.communication = true});
      without(exposed.without.copies, {.copies = true});
      without(exposed.without.host, {.host_gaps = true});
      if (exposed.without.input) without(*exposed.without.input, {.input = true});
      without(*exposed.without.waits, {.waits = true});
    }
  }

  // Below its roof, and in a recorded step.
  [[nodiscard]] bool can_change(std::uint32_t row) const {
    const Maybe& fraction = fractions_[row];
    return fraction && *fraction >= 0 && *fraction < 1 && report_.kernels[row].path_ns;
  }

  // The saving of kernels at their roofs. Empty where there is no time left to work it out, or the
  // replay does not settle.
  std::optional<StepSaving> saving(const Rows& rows) {
    const auto [found, fresh] = known_.try_emplace(rows);
    if (!fresh) return found->second;
    std::uint64_t needed = 0;
    for (const Replayed& step : steps_) needed += kReplaysOfSaving * step.edges_per_replay();
    if (needed > edges_left_) return std::nullopt;
    edges_left_ -= needed;
    StepSaving sum;
    for (const Replayed& step : steps_) {
      const auto& operations = step.record->steps.operations;
      Change change;
      change.length_ns.resize(operations.size(), kSameLength);
      for (const std::uint32_t row : rows) {
        const double fraction = *fractions_[row];
        for (const std::uint32_t each : step.operations[row]) {
          const auto ns =
              static_cast<double>(ns_between(operations[each].start_ns, operations[each].end_ns));
          change.length_ns[each] = static_cast<std::uint64_t>(std::llround(ns * fraction));
        }
      }
      const SavingRange range = step.replay.saving(change);
      if (!range.settled) return std::nullopt;
      add(sum, range);
    }
    const double step_ns = report_.step.wall_mean_ns.value_or(report_.step.graph->wall_ns);
    sum.low_ns = std::min(sum.low_ns, step_ns);
    sum.high_ns = std::min(sum.high_ns, step_ns);
    return found->second = sum;
  }

  struct Wanted {
    double saving_ns = 0;  // of kernels' time
    std::optional<StepSaving>* to = nullptr;
    Rows rows;
  };

  void fill_savings() {
    std::vector<Rows> below(report_.layers.size()), own(report_.layers.size());
    std::set<std::size_t> with_below, with_own;  // layers of which kernels are known
    std::vector<Wanted> wanted;
    for (std::uint32_t row = 0; row < report_.kernels.size(); ++row) {
      KernelRow& kernel = report_.kernels[row];
      if (kernel.counts_again() || !fractions_[row] || !kernel.path_ns) continue;
      const bool changes = can_change(row);
      // What is of the layer is not of one of its kernels.
      if (kernel.roof.fraction)
        wanted.push_back(
            {kernel.saving_ns.value_or(0), &kernel.step_saving, changes ? Rows{row} : Rows{}});
      bool self = true;
      std::size_t left = report_.layers.size();
      for (std::int64_t id = kernel.layer; left > 0; --left, self = false) {
        const auto at = static_cast<std::size_t>(id);
        if (changes) below[at].push_back(row);
        if (changes && self) own[at].push_back(row);
        with_below.insert(at);
        if (self) with_own.insert(at);
        if (!report_.layers[at].parent) break;
        id = *report_.layers[at].parent;
      }
    }
    const auto want = [&](std::size_t at, std::optional<StepSaving> LayerRow::*to, Rows& rows) {
      LayerRow& layer = report_.layers[at];
      const double most = layer.saving_ns.value_or(layer.path_ns.value_or(0));
      wanted.push_back({most, &(layer.*to), std::move(rows)});
    };
    for (const std::size_t at : with_below) want(at, &LayerRow::step_saving, below[at]);
    for (const std::size_t at : with_own) want(at, &LayerRow::step_saving_self, own[at]);
    std::stable_sort(wanted.begin(), wanted.end(),
                     [](const Wanted& a, const Wanted& b) { return a.saving_ns > b.saving_ns; });
    std::size_t left_out = 0;
    for (const Wanted& each : wanted) {
      *each.to = saving(each.rows);
      if (!*each.to) ++left_out;
    }
    if (left_out > 0) {
      note("The saving in step time was worked out for the " +
           std::to_string(wanted.size() - left_out) +
           " layers and kernels with the most to save; for " + std::to_string(left_out) +
           " others it is unknown.");
    }
  }

  const LayerIds& ids_;
  Report& report_;
  std::uint64_t edges_left_;
  std::vector<Maybe> fractions_;  // by kernel row
  std::vector<Replayed> steps_;
  std::unordered_map<LaunchKey, std::size_t, KeyHash> rows_;
  std::map<std::size_t, double> path_;               // by kernel row
  std::map<Rows, std::optional<StepSaving>> known_;  // layers in a row often have the same kernels
  std::vector<std::string> notes_;
};

}  // namespace

std::vector<std::string> fill_step_answers(const Profile::State& state,
                                           const std::vector<KernelOfLayer>& kernels,
                                           const LayerIds& ids, const Roofline& roofline,
                                           Report& report, std::uint64_t most_edges) {
  if (state.step_records.empty() || report.run.unit != Unit::step) return {};
  return Answers(state, kernels, ids, roofline, report, most_edges).fill();
}

}  // namespace gable

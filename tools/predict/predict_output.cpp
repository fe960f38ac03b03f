// SPDX-License-Identifier: Apache-2.0
#include "tools/predict/predict_output.h"

#include <algorithm>

#include "analysis/base/display.h"
#include "analysis/base/number_text.h"
#include "analysis/base/units.h"
#include "analysis/roofline/partial_sum.h"
#include "analysis/roofline/roofline.h"
#include "tools/plot/plot.h"

namespace gable {
namespace {

std::string exact(const Maybe& value) {
  if (!value) return {};
  return significant(*value, 17);
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

Maybe over(const Maybe& value, double unit) { return value ? Maybe(*value / unit) : std::nullopt; }

Maybe intensity(const Prediction& prediction) {
  return prediction.bytes > 0 ? Maybe(prediction.flops / prediction.bytes) : std::nullopt;
}

// Rows of the same place in reports that were made of one.
struct LayerThere {
  const PlotRow* here = nullptr;
  std::vector<const PlotRow*> there;
};

class Layers {
 public:
  Layers(const Report& here, const std::vector<Report>& there) : here_(plot_layers(here)) {
    for (const Report& report : there) there_.push_back(plot_layers(report));
    for (std::size_t i = 0; i < here_.size(); ++i) {
      LayerThere row{&here_[i], {}};
      for (const std::vector<PlotRow>& rows : there_) row.there.push_back(&rows.at(i));
      rows_.push_back(std::move(row));
    }
    std::stable_sort(rows_.begin(), rows_.end(), [](const LayerThere& a, const LayerThere& b) {
      return a.here->sum.time_total_ns.value_or(0) > b.here->sum.time_total_ns.value_or(0);
    });
  }
  [[nodiscard]] const std::vector<LayerThere>& rows() const { return rows_; }

 private:
  std::vector<PlotRow> here_;
  std::vector<std::vector<PlotRow>> there_;
  std::vector<LayerThere> rows_;
};

// Empty where too little of it is known, or has a prediction.
Maybe time_of(const PlotRow& row) {
  return whole_sum(row.sum.time_total_ns, row.sum.coverage.time);
}

std::string device_of(const Report& report) {
  return report.devices.empty() ? "?" : report.devices.front().name;
}

}  // namespace

std::vector<Column> predicted_columns(const std::vector<PredictedRow>& rows,
                                      const std::string& sample) {
  std::vector<Column> columns;
  const auto add = [&](const std::string& head, bool left, auto cell) {
    Column& column = columns.emplace_back(Column{head, left, {}, {}});
    for (const PredictedRow& row : rows) column.cells.push_back(cell(row));
  };
  const bool batches = !rows.empty() && rows.front().has_batches;
  add("GPU", true, [](const PredictedRow& row) { return one_line(row.gpu->name); });
  if (batches) {
    add("batch", false, [](const PredictedRow& row) {
      return std::to_string(row.prediction.batch) + (row.prediction.fits ? "" : "*");
    });
  }
  if (batches)
    add("memory", false,
        [](const PredictedRow& row) { return with_prefix(row.prediction.memory_bytes, "B"); });
  add("bottleneck", true, [](const PredictedRow& row) { return row.prediction.bottleneck; });
  add("latency", false,
      [](const PredictedRow& row) { return duration(row.prediction.latency_ns); });
  if (batches)
    add(sample + "s/s", false,
        [](const PredictedRow& row) { return digits(row.prediction.per_second); });
  add("TFLOP/s", false,
      [](const PredictedRow& row) { return digits(over(row.prediction.flops_per_s, kTera)); });
  add("FLOP/B", false, [](const PredictedRow& row) { return digits(intensity(row.prediction)); });
  add("ridge", false, [](const PredictedRow& row) { return digits(row.ridge); });
  if (batches) {
    add("changes at batch", false, [](const PredictedRow& row) {
      if (!row.prediction.latency_ns) return std::string("-");
      return row.changes == 0 ? std::string("never") : std::to_string(row.changes);
    });
  }
  return columns;
}

std::string predicted_csv(const std::vector<PredictedRow>& rows, const std::string& what,
                          const PredictOptions& options) {
  std::string out =
      "source,what,gpu,precision,batch,bottleneck,latency_ns,per_s,flop_per_s,flop,bytes,"
      "flop_per_byte,ridge_flop_per_byte,changes_at_batch,fits_in_memory,memory_bytes\n";
  for (const PredictedRow& row : rows) {
    const Prediction& of = row.prediction;
    out += "predicted," + quoted(what) + "," + quoted(row.gpu->name) + "," + options.precision +
           "," + std::to_string(of.batch) + "," + of.bottleneck + "," + exact(of.latency_ns) + "," +
           exact(of.per_second) + "," + exact(of.flops_per_s) + "," + exact(of.flops) + "," +
           exact(of.bytes) + "," + exact(intensity(of)) + "," + exact(row.ridge) + "," +
           (row.changes == 0 ? "" : std::to_string(row.changes)) + "," +
           (row.has_batches ? (of.fits ? "yes" : "no") : "") + "," + exact(of.memory_bytes) + "\n";
  }
  return out;
}

std::string predicted_layers(const Report& here, const std::vector<Report>& there, std::size_t rows,
                             std::size_t columns, bool colours) {
  const Layers layers(here, there);
  const std::size_t count = std::min(rows, layers.rows().size());
  std::vector<Column> table;
  const auto add = [&](const std::string& head, bool left, const std::string& whole, auto cell) {
    Column& column = table.emplace_back(Column{head, left, {whole}, {}});
    for (std::size_t i = 0; i < count; ++i) column.cells.push_back(cell(layers.rows()[i]));
  };
  add("layer", true, "whole program",
      [](const LayerThere& row) { return one_line(row.here->name); });
  if (std::any_of(layers.rows().begin(), layers.rows().end(),
                  [](const LayerThere& row) { return row.here->direction == Direction::backward; }))
    add("dir", true, "", [](const LayerThere& row) {
      return row.here->direction == Direction::none ? std::string("-")
                                                    : to_string(row.here->direction).substr(0, 3);
    });
  add("here", false, duration(time_of_roots(here)),
      [](const LayerThere& row) { return duration(time_of(*row.here)); });
  add("bound", true, "", [](const LayerThere& row) { return to_string(row.here->sum.roof.bound); });
  if (std::any_of(layers.rows().begin(), layers.rows().end(),
                  [](const LayerThere& row) { return row.here->analytic; }))
    add("work", true, "", [](const LayerThere& row) {
      return std::string(row.here->analytic          ? "formula"
                         : row.here->sum.flops.total ? "counted"
                                                     : "-");
    });
  for (std::size_t i = 0; i < there.size(); ++i) {
    add(one_line(device_of(there[i])), false, duration(time_of_roots(there[i])),
        [i](const LayerThere& row) { return duration(time_of(*row.there[i])); });
    add("bound", true, "",
        [i](const LayerThere& row) { return to_string(row.there[i]->sum.roof.bound); });
  }
  return render_columns(std::move(table), count + 1, columns, colours);
}

std::vector<std::string> predicted_remarks(const Report& here, const std::vector<Report>& there) {
  const Layers layers(here, there);
  std::vector<std::string> lines;
  double all = 0;
  for (const LayerThere& row : layers.rows()) {
    if (!row.here->counts_again) all += row.here->sum.time_total_ns.value_or(0);
  }
  for (std::size_t i = 0; i < there.size(); ++i) {
    double before = 0, after = 0;
    for (const LayerThere& row : layers.rows()) {
      const Maybe now = time_of(*row.here), then = time_of(*row.there[i]);
      if (row.here->counts_again || !now || !then) continue;
      before += *now;
      after += *then;
    }
    if (before >= kFullCoverage * all || !(all > 0)) continue;
    lines.push_back(device_of(there[i]) + ": " +
                    (before > 0 ? percent(before / all) + " of the time has a prediction, " +
                                      duration(before) + " here and " + duration(after) + " there."
                                : "no layer has a prediction: nothing is known of their work."));
  }
  for (const Report& report : there) {
    if (!here.step.wall_mean_ns || !report.step.wall_mean_ns) continue;
    lines.push_back(
        "A step: " + duration(here.step.wall_mean_ns) + " here, at least " +
        duration(report.step.wall_mean_ns) + " on " + one_line(device_of(report)) +
        ": its critical path, of which the host's part, copies and communication stay.");
  }
  if (std::any_of(layers.rows().begin(), layers.rows().end(),
                  [](const LayerThere& row) { return row.here->analytic; }))
    lines.emplace_back(
        "formula: nothing was counted, so work is what the operators' formulas say.");
  lines.emplace_back("Under compute and DRAM roofs from data sheets; nothing was measured there.");
  return lines;
}

std::string predicted_layers_csv(const Report& here, const std::vector<Report>& there) {
  const Layers layers(here, there);
  std::string out = "source,layer,direction,gpu,time_ns,bound,fraction,least_ns,work\n";
  const auto line = [&](const std::string& source, const PlotRow& row, const std::string& gpu,
                        const char* work) {
    const Roof& roof = row.sum.roof;
    const Maybe least = roof.compute_ns && roof.memory_ns
                            ? Maybe(std::max(*roof.compute_ns, *roof.memory_ns))
                            : std::nullopt;
    out += source + "," + quoted(row.name) + "," + to_string(row.direction) + "," + quoted(gpu) +
           "," + exact(time_of(row)) + "," + to_string(roof.bound) + "," + exact(roof.fraction) +
           "," + exact(least) + "," + work + "\n";
  };
  for (const LayerThere& row : layers.rows()) {
    const char* work = row.here->analytic ? "formula" : row.here->sum.flops.total ? "counted" : "";
    line(to_string(here.run.source), *row.here, device_of(here), work);
    for (std::size_t i = 0; i < there.size(); ++i)
      line("predicted", *row.there[i], device_of(there[i]), work);
  }
  return out;
}

}  // namespace gable

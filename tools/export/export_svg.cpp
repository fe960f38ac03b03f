// SPDX-License-Identifier: Apache-2.0
#include "tools/export/export_svg.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include "analysis/base/display.h"
#include "analysis/base/number_text.h"
#include "analysis/roofline/partial_sum.h"
#include "tools/export/export.h"
#include "tools/export/log_axis.h"
#include "tools/plot/plot.h"
#include "tools/show/sources.h"

namespace gable {
namespace {

constexpr double kLeft = 92, kRight = 970, kTop = 64, kBottom = 570, kStrip = 56;
constexpr double kWholeTime = 2600, kSmallest = 16;  // px² of a point with all of the time

constexpr const char* kStyle = R"(<style>
  text { font: 13px system-ui, "DejaVu Sans", sans-serif; fill: #1d2229 }
  .title { font-weight: 600; font-size: 15px } .note, .tick { fill: #5a6470; font-size: 12px }
  .roof { stroke: #1d2229; stroke-width: 1.6 } .memory { stroke: #0072b2; stroke-width: 1.6 }
  .dot { fill: #0072b2; fill-opacity: .5; stroke: #0072b2 } .backward { fill: #d55e00; stroke: #d55e00 }
  .recompute { fill: #cc79a7; stroke: #a0527c } .analytic { fill: #fff; fill-opacity: .4 }
</style>
)";

// XML has no place for U+FFFE and U+FFFF, however they are written.
bool is_no_xml(const std::string& text, std::size_t at) {
  return text.compare(at, 2, "\xEF\xBF") == 0 && at + 2 < text.size() &&
         (text[at + 2] == '\xBE' || text[at + 2] == '\xBF');
}

std::string escaped(const std::string& text) {
  std::string out;
  const std::string shown = one_line(text);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const char c = shown[i];
    if (is_no_xml(shown, i)) {
      out += "\xEF\xBF\xBD";  // U+FFFD stands for what cannot be shown
      i += 2;
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out += c;
    }
  }
  return out;
}

std::string px(double value) { return decimals(value, 2); }

std::string line(const char* kind, double x1, double y1, double x2, double y2,
                 const std::string& more = {}) {
  return std::string("<line class=\"") + kind + "\" x1=\"" + px(x1) + "\" y1=\"" + px(y1) +
         "\" x2=\"" + px(x2) + "\" y2=\"" + px(y2) + "\"" + more + "/>\n";
}

std::string text(const char* kind, double x, double y, const char* anchor, const std::string& words,
                 double turned = 0) {
  std::string out = std::string("<text class=\"") + kind + "\" text-anchor=\"" + anchor + "\"";
  if (turned == 0) {
    out += " x=\"" + px(x) + "\" y=\"" + px(y) + "\"";
  } else {
    out += " transform=\"translate(" + px(x) + "," + px(y) + ") rotate(" + px(turned) + ")\"";
  }
  return out + ">" + escaped(words) + "</text>\n";
}

struct Shown {  // what is drawn, over all reports
  std::vector<PlotRow> rows;
  std::vector<Ceiling> compute;
  Maybe memory;  // the highest roof of the level
  std::size_t unknown = 0;
  bool strip = false;
};

bool without_flop(const PlotRow& row) {
  return row.sum.flops.total && *row.sum.flops.total == 0 && row.sum.roof.fraction;
}

Shown shown_of(const std::vector<Report>& reports, const ExportOptions& options) {
  Shown shown;
  std::set<std::string> precisions;
  for (const Report& report : reports) {
    for (PlotRow& row : exported_rows(report, options)) {
      const bool point = row.sum.flops_per_s && at_level(row.sum, options.query.level).intensity;
      if (!without_flop(row) && !point) {
        ++shown.unknown;
        continue;
      }
      shown.strip = shown.strip || without_flop(row);
      precisions.insert(row.precision);
      shown.rows.push_back(std::move(row));
    }
  }
  std::set<std::pair<std::string, double>> known;
  for (const Report& report : reports) {
    for (const Ceiling& ceiling : report.ceilings) {
      if (ceiling.clock == SmClock::boost) continue;
      if (ceiling.kind == CeilingKind::memory && ceiling.name == word_of(options.query.level))
        shown.memory = std::max(shown.memory.value_or(0), ceiling.value);
      if (ceiling.kind == CeilingKind::compute && precisions.contains(ceiling.name) &&
          known.emplace(ceiling.name + ceiling.source, ceiling.value).second)
        shown.compute.push_back(ceiling);
    }
  }
  return shown;
}

std::string axes(const LogAxis& x, const LogAxis& y, double left, const std::string& level) {
  std::string out;
  for (const double value : x.decades()) {
    out += line("grid", x.at(value), kTop, x.at(value), kBottom, " stroke=\"#d5dae0\"");
    out += text("tick", x.at(value), kBottom + 18, "middle", digits(value));
  }
  for (const double value : y.decades()) {
    out += line("grid", left, y.at(value), kRight, y.at(value), " stroke=\"#d5dae0\"");
    out += text("tick", kLeft - 8, y.at(value) + 4, "end", with_prefix(value, ""));
  }
  out += text("title", (left + kRight) / 2, kBottom + 44, "middle",
              "Arithmetic intensity at " + level + " [FLOP/byte]");
  return out + text("title", 22, (kTop + kBottom) / 2, "middle", "Performance [FLOP/s]", -90);
}

std::string roofs(const Shown& shown, const LogAxis& x, const LogAxis& y,
                  const std::string& level) {
  std::string out;
  double highest = 0;
  for (const Ceiling& roof : shown.compute) highest = std::max(highest, roof.value);
  if (shown.memory) {
    const double end = highest > 0 ? std::min(x.high(), highest / *shown.memory) : x.high();
    const double begin = std::max(x.low(), y.low() / *shown.memory);
    if (begin < end) {
      const double x1 = x.at(begin), y1 = y.at(begin * *shown.memory);
      const double x2 = x.at(end), y2 = y.at(end * *shown.memory);
      out += line("memory", x1, y1, x2, y2, " data-roof=\"" + level + "\"");
      const double angle = std::atan2(y2 - y1, x2 - x1) * 180 / std::numbers::pi;
      out += text("label", x1 + (x2 - x1) * 0.3, y1 + (y2 - y1) * 0.3 - 6, "start",
                  level + ": " + with_prefix(shown.memory, "B/s"), angle);
    }
  }
  for (const Ceiling& roof : shown.compute) {
    const double begin = shown.memory ? std::max(x.low(), roof.value / *shown.memory) : x.low();
    if (begin >= x.high()) continue;
    out += line("roof", x.at(begin), y.at(roof.value), kRight, y.at(roof.value),
                " data-roof=\"" + escaped(roof.name) + "\"");
    out += text("label", kRight - 4, y.at(roof.value) - 5, "end",
                roof.name + ": " + with_prefix(roof.value, "FLOP/s"));
  }
  return out;
}

std::string dot(const PlotRow& row, double x, double y, const std::string& time) {
  const double area = std::max(kSmallest, kWholeTime * std::min(1.0, row.share.value_or(0)));
  return "<circle class=\"dot " + to_string(row.direction) + (row.analytic ? " analytic" : "") +
         "\" cx=\"" + px(x) + "\" cy=\"" + px(y) + "\" r=\"" +
         px(std::sqrt(area / std::numbers::pi)) + "\"><title>" +
         escaped(shorten_middle(row.name, 200) + " (" + to_string(row.direction) +
                 "): " + with_prefix(row.sum.flops_per_s, "FLOP/s") + ", " + percent(row.share) +
                 " of the " + time + ", " + percent(row.sum.roof.fraction) + " of the roof") +
         "</title></circle>\n";
}

}  // namespace

std::string export_svg(const std::vector<Report>& reports, const std::vector<std::string>& names,
                       const ExportOptions& options) {
  Shown shown = shown_of(reports, options);
  const std::string level = options.query.level == MemoryLevel::dram ? "DRAM"
                            : options.query.level == MemoryLevel::l2 ? "L2"
                                                                     : "L1";
  const double left = shown.strip ? kLeft + kStrip : kLeft;
  Range xs, ys;
  for (const PlotRow& row : shown.rows) {
    if (without_flop(row)) continue;
    xs.add(*at_level(row.sum, options.query.level).intensity);
    ys.add(*row.sum.flops_per_s);
  }
  for (const Ceiling& roof : shown.compute) {
    ys.add(roof.value);
    if (shown.memory) xs.add(roof.value / *shown.memory);
  }
  const LogAxis x = xs.axis(left, kRight), y = ys.axis(kBottom, kTop);
  const LogAxis strip(0.001, 2, kBottom, kTop);

  const std::string time = time_of_shares(reports);
  std::string title = "Gable";
  std::string sources;
  for (const std::string& source : sources_of(reports))
    sources += (sources.empty() ? "" : ", ") + source;
  if (sources != "cupti") title += " [" + sources + "]";
  for (const std::string& name : names) title += " " + name;
  std::string out =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1000\" height=\"640\" "
      "viewBox=\"0 0 1000 640\" role=\"img\">\n<title>" +
      escaped(title) + "</title>\n" + kStyle +
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n";
  out += text("title", kLeft, 24, "start", shorten_middle(title, 110));
  out += text(
      "note", kLeft, 44, "start",
      "area: share of the " + time +
          "; blue: forward or none, orange: backward, purple: recompute" +
          (shown.unknown > 0 ? "; not shown, as a part is unknown: " + std::to_string(shown.unknown)
                             : ""));
  if (shown.strip) {
    out += "<rect x=\"" + px(kLeft) + "\" y=\"" + px(kTop) + "\" width=\"" + px(kStrip - 8) +
           "\" height=\"" + px(kBottom - kTop) + "\" fill=\"#f4f6f8\"/>\n" +
           text("note", kLeft + 2, kTop + 14, "start", "0 FLOP");
    for (const double share : {1.0, 0.1, 0.01})
      out += text("note", kLeft + kStrip - 10, strip.at(share) + 4, "end", percent(share));
  }
  out += axes(x, y, left, level) + roofs(shown, x, y, level);
  // Small points on top of large ones.
  std::stable_sort(shown.rows.begin(), shown.rows.end(), [](const PlotRow& a, const PlotRow& b) {
    return a.share.value_or(0) > b.share.value_or(0);
  });
  for (const PlotRow& row : shown.rows) {
    if (without_flop(row)) {
      out += dot(row, kLeft + 14, strip.at(std::clamp(*row.sum.roof.fraction, 0.001, 2.0)), time);
    } else {
      out += dot(row, x.at(*at_level(row.sum, options.query.level).intensity),
                 y.at(*row.sum.flops_per_s), time);
    }
  }
  return out + "</svg>\n";
}

}  // namespace gable

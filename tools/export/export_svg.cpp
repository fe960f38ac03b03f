// SPDX-License-Identifier: Apache-2.0
#include "tools/export/export_svg.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
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
  .compute { fill: #008060; stroke: #008060 } .latency { fill: #b07800; stroke: #b07800 }
  .bandwidth { fill: #0072b2; stroke: #0072b2 } .small { fill: #a0527c; stroke: #a0527c }
  .overhead { fill: #c04f00; stroke: #c04f00 } .communication { fill: #2f8fc4; stroke: #2f8fc4 }
  .unknown { fill: #b9c0c8; stroke: #b9c0c8 } .dot { fill-opacity: .5 }
  .backward { stroke: #1d2229; stroke-width: 1.6 } .recompute { stroke: #1d2229; stroke-dasharray: 3 2 }
  .analytic { fill: #fff; fill-opacity: .4 }
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
  std::optional<Ceiling> memory;  // the highest roof of the level
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
      if (ceiling.kind == CeilingKind::memory && ceiling.name == word_of(options.query.level) &&
          (!shown.memory || shown.memory->value < ceiling.value))
        shown.memory = ceiling;
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

// ", theoretical" or ", measured", which sources begin with.
std::string known_by(const Ceiling& roof) {
  return roof.source.empty() ? "" : ", " + roof.source.substr(0, roof.source.find(':'));
}

std::string roofs(const Shown& shown, const LogAxis& x, const LogAxis& y,
                  const std::string& level) {
  std::string out;
  double highest = 0;
  for (const Ceiling& roof : shown.compute) highest = std::max(highest, roof.value);
  if (shown.memory) {
    const double end = highest > 0 ? std::min(x.high(), highest / shown.memory->value) : x.high();
    const double begin = std::max(x.low(), y.low() / shown.memory->value);
    if (begin < end) {
      const double x1 = x.at(begin), y1 = y.at(begin * shown.memory->value);
      const double x2 = x.at(end), y2 = y.at(end * shown.memory->value);
      out += line("memory", x1, y1, x2, y2, " data-roof=\"" + level + "\"");
      const double angle = std::atan2(y2 - y1, x2 - x1) * 180 / std::numbers::pi;
      out += text("label", x1 + (x2 - x1) * 0.3, y1 + (y2 - y1) * 0.3 - 6, "start",
                  level + ": " + with_prefix(shown.memory->value, "B/s") + known_by(*shown.memory),
                  angle);
    }
  }
  for (const Ceiling& roof : shown.compute) {
    const double begin =
        shown.memory ? std::max(x.low(), roof.value / shown.memory->value) : x.low();
    if (begin >= x.high()) continue;
    out += line("roof", x.at(begin), y.at(roof.value), kRight, y.at(roof.value),
                " data-roof=\"" + escaped(roof.name) + "\"");
    out += text("label", kRight - 4, y.at(roof.value) - 5, "end",
                roof.name + ": " + with_prefix(roof.value, "FLOP/s") + known_by(roof));
  }
  return out;
}

// The page's colours; a class of their own for roofs is "memory".
std::string limit_class(Bound bound) {
  return bound == Bound::memory ? "bandwidth" : to_string(bound);
}

std::string dot(const PlotRow& row, double x, double y, const std::string& time) {
  const double area = std::max(kSmallest, kWholeTime * std::min(1.0, row.share.value_or(0)));
  return "<circle class=\"dot " + limit_class(row.sum.roof.bound) + " " + to_string(row.direction) +
         (row.analytic ? " analytic" : "") + "\" cx=\"" + px(x) + "\" cy=\"" + px(y) + "\" r=\"" +
         px(std::sqrt(area / std::numbers::pi)) + "\"><title>" +
         escaped(shorten_middle(row.name, 200) + " (" + to_string(row.direction) +
                 "): " + with_prefix(row.sum.flops_per_s, "FLOP/s") + ", " + percent(row.share) +
                 " of the " + time + ", " + percent(row.sum.roof.fraction) +
                 " of the roof, limit: " + to_string(row.sum.roof.bound)) +
         "</title></circle>\n";
}

// What limits the points, with the colours of those that are there.
std::string legend(const Shown& shown) {
  std::set<Bound> bounds;
  for (const PlotRow& row : shown.rows) bounds.insert(row.sum.roof.bound);
  std::string out;
  double at = kLeft;
  constexpr double kLetter = 7, kSquare = 16, kGap = 22, kBelow = 632;
  for (const Bound bound : bounds) {
    const std::string name = bound == Bound::unknown ? "limit unknown" : to_string(bound);
    out += "<rect class=\"" + limit_class(bound) + "\" x=\"" + px(at) + "\" y=\"" + px(kBelow - 9) +
           "\" width=\"10\" height=\"10\"/>\n" + text("note", at + kSquare, kBelow, "start", name);
    at += kSquare + kLetter * static_cast<double>(name.size()) + kGap;
  }
  return out;
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
    if (shown.memory) xs.add(roof.value / shown.memory->value);
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
          "; dark edge: backward, dashed: recompute, hollow: by formula" +
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
  return out + legend(shown) + "</svg>\n";
}

}  // namespace gable

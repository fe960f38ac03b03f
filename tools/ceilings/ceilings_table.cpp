// SPDX-License-Identifier: Apache-2.0
#include "tools/ceilings/ceilings_table.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "analysis/base/display.h"
#include "analysis/base/number_text.h"
#include "analysis/roofline/ceilings.h"
#include "analysis/roofline/link_roofs.h"

namespace gable {
namespace {

constexpr double kAbove = 1.001;  // what a clock's rounding makes is not above

struct Column {
  const char* head;
  std::size_t width;
  bool right;
};
constexpr std::array<Column, 7> kColumns = {{{"roof", 14, false},
                                             {"measured", 13, true},
                                             {"theoretical", 13, true},
                                             {"at", 12, true},
                                             {"share", 9, true},
                                             {"spread", 10, true},
                                             {"benchmark", 26, false}}};
using Cells = std::array<std::string, kColumns.size()>;

std::string line_of(const Cells& cells) {
  std::string line;
  for (std::size_t i = 0; i < kColumns.size(); ++i) {
    const std::string cell = shorten_end(cells[i], kColumns[i].width);
    const std::string gap(kColumns[i].width - std::min(kColumns[i].width, display_width(cell)),
                          ' ');
    if (i > 0) line += kColumns[i].right ? "" : "  ";
    line += kColumns[i].right ? gap + cell : cell + gap;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string unit_of(CeilingKind kind, const std::string& name) {
  if (kind != CeilingKind::compute) return "B/s";
  return name.rfind("int", 0) == 0 ? "OP/s" : "FLOP/s";
}

std::string clock_text(double hz) { return decimals(hz * 1e-9, 3) + " GHz"; }

const Ceiling* find(const std::vector<Ceiling>& ceilings, const std::string& name) {
  const auto found = std::find_if(ceilings.begin(), ceilings.end(),
                                  [&](const Ceiling& each) { return each.name == name; });
  return found == ceilings.end() ? nullptr : &*found;
}

// The theoretical value beside a measured one, and the clock it is at.
struct Beside {
  Maybe value;
  std::string at = "-";
};

Beside theoretical(const DeviceInfo& device, const std::string& name, const Maybe& clock_hz) {
  if (value_of<CopyKind>(name)) {
    const auto link = host_link(device);
    return {link ? Maybe(link->value) : std::nullopt, "-"};
  }
  // The list has the measured clock's first.
  const std::vector<Ceiling> ceilings = theoretical_ceilings(device, clock_hz);
  const Ceiling* ceiling = find(ceilings, name);
  if (ceiling == nullptr) return {};
  Beside beside{ceiling->value, "-"};
  if (ceiling->clock == SmClock::measured) beside.at = clock_text(*clock_hz);
  if (ceiling->clock == SmClock::boost)
    beside.at = "*" + clock_text(static_cast<double>(device.sm_clock_max_hz));
  return beside;
}

class Table {
 public:
  explicit Table(const MeasuredRoofs& measured) : measured_(measured) {
    const DeviceInfo& device = measured.device;
    text_ = std::string(measured.playback ? "[playback] Measured on no GPU. " : "") +
            one_line(device.name) + ", " + std::to_string(device.sm_count) +
            " SMs, compute capability " + std::to_string(device.compute_major) + "." +
            std::to_string(device.compute_minor) + "\n\n";
    Cells heads;
    for (std::size_t i = 0; i < heads.size(); ++i) heads[i] = kColumns[i].head;
    text_ += line_of(heads);
  }

  void add(const MeasuredRoof& roof) {
    const Beside beside = theoretical(measured_.device, roof.name, roof.sm_clock_hz);
    const std::string unit = unit_of(roof.kind, roof.name);
    const Maybe share = beside.value ? Maybe(roof.value / *beside.value) : std::nullopt;
    text_ += line_of({roof.name, with_prefix(roof.value, unit), with_prefix(beside.value, unit),
                      mark(beside.at), percent(share), percent(roof.spread), roof.how});
    const std::string name = roof.name + " (" + roof.how + ")";
    if (share.value_or(0) > kAbove) {
      say("Above the theoretical value: the clock was above the stated one, or the measurement "
          "is faulty",
          name);
    }
    if (!roof.steady) say("Not steady, so that the value is the mean of the last launches", name);
    shown_.insert(roof.name);
  }

  void add(const FailedRoof& roof) {
    const Beside beside = theoretical(measured_.device, roof.name, std::nullopt);
    text_ +=
        line_of({roof.name, "-", with_prefix(beside.value, unit_of(kind(roof.name), roof.name)),
                 mark(beside.at), "-", "-", roof.how});
    say("Not measured, because " + roof.why, roof.name + " (" + roof.how + ")");
    shown_.insert(roof.name);
  }

  // Roofs that nothing here measures.
  void add_others() {
    for (const Ceiling& each : theoretical_ceilings(measured_.device)) {
      if (!shown_.insert(each.name).second) continue;
      const Beside beside = theoretical(measured_.device, each.name, std::nullopt);
      text_ += line_of({each.name, "-", with_prefix(each.value, unit_of(each.kind, each.name)),
                        mark(beside.at), "-", "-", "none for this chip"});
    }
  }

  void add_latency(const std::string& why_not) {
    if (const auto& latency = measured_.latency) {
      text_ += "\nLaunch latency: " + duration(latency->ns) + ", spread " +
               percent(latency->spread) +
               ". From the call until the host sees what the kernel wrote, on an idle GPU.\n";
    } else if (!why_not.empty()) {
      text_ += "\nLaunch latency: not measured, because " + why_not + ".\n";
    }
  }

  [[nodiscard]] std::string text() const {
    std::string all = text_;
    if (starred_) all += "\n* the highest clock; the others were measured while the kernel ran.\n";
    for (const auto& [sentence, names] : below_) all += "\n" + sentence + ": " + names + ".\n";
    return all;
  }

 private:
  // What is true of several roofs is said once.
  void say(const std::string& sentence, const std::string& name) {
    std::string& names = below_[sentence];
    names += (names.empty() ? "" : ", ") + name;
  }
  std::string mark(const std::string& at) {
    starred_ = starred_ || at.rfind('*', 0) == 0;
    return at;
  }
  [[nodiscard]] static CeilingKind kind(const std::string& name) {
    if (value_of<CopyKind>(name)) return CeilingKind::link;
    return value_of<MemoryLevel>(name) ? CeilingKind::memory : CeilingKind::compute;
  }

  const MeasuredRoofs& measured_;
  std::string text_;
  std::map<std::string, std::string> below_;  // sentences, and of which roofs
  std::set<std::string> shown_;
  bool starred_ = false;
};

// Sentences may be longer than a line.
std::string wrapped(const std::string& text, std::size_t columns) {
  std::string out;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    while (display_width(line) > columns) {
      const std::size_t space = line.rfind(' ', columns);
      if (space == std::string::npos || space == 0) break;
      out += line.substr(0, space) + "\n";
      line = "  " + line.substr(space + 1);
    }
    out += line + "\n";
    begin = end + 1;
  }
  return out;
}

}  // namespace

std::string ceilings_table(const MeasuredRoofs& measured, const std::vector<FailedRoof>& failed,
                           const std::string& no_latency) {
  Table table(measured);
  for (const MeasuredRoof& roof : measured.roofs) table.add(roof);
  for (const FailedRoof& roof : failed) table.add(roof);
  table.add_others();
  table.add_latency(no_latency);
  return wrapped(table.text(), 100);
}

}  // namespace gable

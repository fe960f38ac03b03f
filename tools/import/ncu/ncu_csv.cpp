// SPDX-License-Identifier: Apache-2.0
#include "tools/import/ncu/ncu_csv.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>

#include "analysis/base/ascii.h"
#include "tools/base/wrong_use.h"
#include "tools/import/counters/mark_finder.h"
#include "tools/import/counters/ncu_merge.h"
#include "tools/import/counters/ncu_metrics.h"
#include "tools/import/counters/ncu_units.h"
#include "tools/import/counters/ncu_values.h"
#include "tools/import/ncu/ncu_device.h"
#include "tools/import/ncu/ncu_resources.h"
#include "tools/import/ncu/row_start.h"
#include "tools/streams/csv_rows.h"

namespace gable {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

constexpr std::size_t kMostMetrics = 20000;
constexpr std::size_t kMostHeldBytes = 8u << 20;

struct Columns {
  std::size_t count = 0;
  std::size_t id = kNone, process = kNone, kernel = kNone;
  std::size_t block = kNone, grid = kNone, device = kNone, cc = kNone;
  std::size_t metric = kNone, unit = kNone, value = kNone;  // of the long form
  // Of the wide form: columns with their metrics, with attributes of the GPU, and with what blocks
  // take.
  std::vector<std::pair<std::size_t, NcuMetric>> wide;
  std::vector<std::pair<std::size_t, std::string>> attributes, resources;
  [[nodiscard]] bool is_wide() const { return metric == kNone; }
  // The last one that every row has.
  [[nodiscard]] std::size_t needed() const {
    if (!is_wide()) return std::max(kernel, value);
    std::size_t last = wide.empty() ? 0 : wide.back().first;
    for (const auto* each : {&attributes, &resources})
      if (!each->empty()) last = std::max(last, each->back().first);
    return last;
  }
};

std::string start_of(std::string_view text) { return quoted_piece(text.substr(0, 40)); }

class Reader {
 public:
  Reader(ByteSource& source, Imported& imported)
      : source_(source),
        imported_(imported),
        rows_(source, [this](std::string_view text, bool line,
                             bool end) { return ncu_row_start(shape_, text, line, end); }),
        metrics_(imported),
        gpus_(imported) {}

  void read() {
    while (rows_.next()) {
      if (!rows_.is_row()) {
        look_at(rows_.text());
        continue;
      }
      const auto& fields = rows_.fields();
      if (is_head(fields)) {
        finish_file();
        read_head(fields);
      } else if (columns_.count > 0) {
        take_row(fields);
      } else if (std::find(fields.begin(), fields.end(), "Invocations") != fields.end() &&
                 std::find(fields.begin(), fields.end(), "Average") != fields.end()) {
        throw WrongUse(source_.name() +
                       " is a summary of ncu's (--print-summary), in which launches are no longer "
                       "apart: print it with --csv --page raw --print-units base instead.");
      }  // else a program's output
    }
    if (columns_.count == 0) refuse();
    finish_file();
    if (imported_.counters.empty())
      throw WrongUse(source_.name() + " has a head and no launch: ncu profiled no kernel" +
                     (ncu_error_.empty() ? "." : " (" + ncu_error_ + ")."));
  }

 private:
  static bool is_head(const std::vector<std::string_view>& fields) {
    return fields.size() > 4 &&
           (fields[0] == "ID" || (fields[1] == "ID" && (fields[0].empty() || is_index(fields[0]))));
  }
  // As pandas names the column that counts rows.
  static bool is_index(std::string_view name) { return name == "Unnamed: 0"; }

  [[noreturn]] void broken(const std::string& what) const {
    throw WrongUse(source_.name() + ":" + std::to_string(line_) + ": " + what);
  }

  // ncu's own lines, of which errors say why there is nothing.
  void look_at(std::string_view text) {
    const bool error = text.starts_with("==ERROR=="), warning = text.starts_with("==WARNING==");
    if (ncu_error_.empty() && error) ncu_error_ = quoted_piece(text);
    if (ncu_warning_.empty() && warning) ncu_warning_ = quoted_piece(text);
    is_text_ = is_text_ || is_text_page(text);
    has_counted_ = has_counted_ || text.starts_with("==PROF== Profiling \"");
    is_log_ = is_log_ || error || warning || text.starts_with("==PROF==");
    if (rows_.line() == 1 && first_.empty()) first_ = text.substr(0, 64);
    if (separator_.empty()) separator_ = other_separator(text);
    if (columns_.count > 0 && is_piece_of_ncu_row(text)) {
      line_ = rows_.line();
      broken("the line is part of a row whose rest is lost: the file is damaged.");
    }
  }

  // "  k(int) (1, 1, 1)x(128, 1, 1), Context 1, Stream 7, Device 0, CC 8.0", or what is below it:
  // what ncu prints without --csv.
  static bool is_text_page(std::string_view text) {
    if (text.find(", Context ") != std::string_view::npos &&
        text.find(", Stream ") != std::string_view::npos)
      return true;
    const auto name = text.find("Metric Name"), unit = text.find("Metric Unit"),
               value = text.find("Metric Value");
    return text.find('"') == std::string_view::npos && name < unit && unit < value &&
           value != std::string_view::npos;
  }

  // Of a head that a spreadsheet wrote again.
  static std::string_view other_separator(std::string_view text) {
    for (const auto& [mark, name] : {std::pair<char, std::string_view>(';', "semicolons"),
                                     std::pair<char, std::string_view>('\t', "tabs")}) {
      for (const std::string_view id : {"ID", "\"ID\""}) {
        if (text.starts_with(std::string(id) + mark) &&
            text.find("Kernel Name") != std::string_view::npos)
          return name;
      }
    }
    return {};
  }

  [[noreturn]] void refuse() const {
    const std::string& name = source_.name();
    if (!ncu_error_.empty()) {
      const auto says = [this](std::string_view piece) {
        return ncu_error_.find(piece) != std::string::npos;
      };
      throw WrongUse(
          name + " has no launches (ncu says: " + ncu_error_ + "): " +
          (says("pplication returned an error") ? "the program ended with an error under ncu; see "
                                                  "that it ends well without ncu, and "
                                                  "what it says with it"
           : says("ERR_NVGPUCTRPERM")
               ? "the driver keeps counters for administrators; run ncu as root, or have them "
                 "opened to all"
               : "fix that") +
          ", and count again.");
    }
    if (!separator_.empty())
      throw WrongUse(name + " has " + std::string(separator_) +
                     " between its fields, as spreadsheets write them, where ncu has commas: give "
                     "the file that ncu wrote, or save it again with commas.");
    if (is_text_)
      throw WrongUse(name +
                     " is what ncu prints to be read by people, with kernels in it: add --csv to "
                     "its options (best: --csv --page raw --print-units base).");
    if (has_counted_ && ncu_warning_.empty())
      throw WrongUse(name +
                     " is a log of ncu's that has kernels and none of their numbers: if ncu wrote "
                     "a report, export that with ncu --import REPORT --csv --page raw "
                     "--print-units base, else run ncu with --csv.");
    if (is_log_)
      throw WrongUse(name + " is a log of ncu's without a kernel" +
                     (ncu_warning_.empty() ? std::string() : " (ncu says: " + ncu_warning_ + ")") +
                     ": see that its filters (--kernel-name, --launch-skip, --nvtx-include) let "
                     "kernels through, and that --target-processes all follows child processes.");
    if (first_.starts_with("NVR")) throw WrongUse(ncu_rep_sentence(name));
    if (first_.starts_with("SQLite format 3"))
      throw WrongUse(name + " is an SQLite file, as nsys exports it: give it with --nsys.");
    if (first_.starts_with("{") || first_.starts_with("["))
      throw WrongUse(name + " looks like a trace of PyTorch's profiler: give it with --kineto.");
    if (first_.find('\0') != std::string::npos)
      throw WrongUse(name + " is a binary file, and --ncu takes what `ncu --csv` prints.");
    throw WrongUse(
        name +
        " has no line that begins with \"ID\", so it is not output of ncu --csv: run ncu "
        "with --csv --page raw --print-units base --log-file counters.csv, and give "
        "that file.");
  }

  void read_head(const std::vector<std::string_view>& fields) {
    line_ = rows_.line();
    columns_ = {};
    rows_.expect_repeats(0);
    columns_.count = fields.size();
    struct Known {
      std::string_view name;
      std::size_t Columns::*place;
    };
    static constexpr auto kKnown = std::to_array<Known>({{"ID", &Columns::id},
                                                         {"Process ID", &Columns::process},
                                                         {"Kernel Name", &Columns::kernel},
                                                         {"Block Size", &Columns::block},
                                                         {"Grid Size", &Columns::grid},
                                                         {"Device", &Columns::device},
                                                         {"CC", &Columns::cc},
                                                         {"Metric Name", &Columns::metric},
                                                         {"Metric Unit", &Columns::unit},
                                                         {"Metric Value", &Columns::value}});
    for (std::size_t i = 0; i < fields.size(); ++i) {
      for (const Known& known : kKnown) {
        if (fields[i] == known.name && columns_.*known.place == kNone) columns_.*known.place = i;
      }
    }
    if (columns_.kernel == kNone) broken("the head has no column \"Kernel Name\".");
    read_columns(fields);
    shape_ = {true,
              !rows_.is_quoted(),
              columns_.id,
              columns_.process == columns_.id + 1,
              columns_.is_wide(),
              columns_.needed() + 1,
              columns_.count};
  }

  void read_columns(const std::vector<std::string_view>& fields) {
    if (!columns_.is_wide()) {
      if (columns_.value == kNone) broken("the head has no column \"Metric Value\".");
      rows_.expect_repeats(std::min(columns_.metric, columns_.value));
      has_units_ = columns_.unit != kNone;
      return;
    }
    for (std::size_t i = columns_.kernel + 1; i < fields.size(); ++i) {
      if (fields[i].find("__") == std::string_view::npos) continue;
      if (is_device_attribute(fields[i])) columns_.attributes.emplace_back(i, fields[i]);
      if (NcuResources::is_one(fields[i])) columns_.resources.emplace_back(i, fields[i]);
      if (const auto metric = metrics_.add(fields[i])) columns_.wide.emplace_back(i, *metric);
    }
    // One metric a file: what is no counter, such as launch__waves_per_multiprocessor, says
    // nothing.
    const bool metrics = std::any_of(
        fields.begin() + static_cast<std::ptrdiff_t>(columns_.kernel), fields.end(),
        [](std::string_view field) { return field.find("__") != std::string_view::npos; });
    if (!metrics) broken("the head has neither \"Metric Name\" nor a metric.");
    units_.assign(fields.size(), {});
    has_units_ = false;
    attribute_units_.assign(columns_.attributes.size(), {});
    resource_units_.assign(columns_.resources.size(), {});
  }

  // Numbers of a file have one decimal mark. Rows from the first on that reads differently with
  // another wait until one tells which it is.
  void take_row(const std::vector<std::string_view>& fields) {
    check_size(fields);
    line_ = rows_.line();
    shape_.units = false;
    shape_.plain = shape_.plain || !rows_.is_quoted();
    if (marks_.mark() || !waits(fields)) return read_row(fields, rows_.is_repeat());
    Held& row = held_.emplace_back();
    row.line = line_;
    row.fields.assign(fields.begin(), fields.end());
    for (const std::string& field : row.fields) held_bytes_ += sizeof(field) + field.size();
    if (marks_.mark() || held_bytes_ > kMostHeldBytes) read_held();
  }

  // Looks for evidence. True: the row waits, or those before it do.
  bool waits(const std::vector<std::string_view>& fields) {
    if (!columns_.is_wide()) {
      if (!fields[columns_.metric].empty()) marks_.see(fields[columns_.value]);
    } else if (!fields[columns_.id].empty()) {
      for (const auto& [column, metric] : columns_.wide) marks_.see(fields[column]);
    }
    return marks_.is_in_doubt() || !held_.empty();
  }

  [[noreturn]] void no_number(std::string_view text, std::string_view metric) const {
    broken("'" + start_of(text) + "' is not a number" +
           (marks_.mark() ? std::string(" where the decimal mark is a ") +
                                (mark() == DecimalMark::point ? "point" : "comma") + ", as before"
                          : std::string()) +
           " (" + std::string(metric) + "): run ncu with LC_ALL=C.");
  }

  void read_held() {
    if (!marks_.decide())
      throw WrongUse(source_.name() + ": '" + quoted_piece(marks_.first_doubt()) +
                     "' may have decimals or groups of digits, and no number of the file tells "
                     "which: run ncu with LC_ALL=C.");
    const std::vector<Held> rows = std::move(held_);
    held_.clear();
    held_bytes_ = 0;
    std::vector<std::string_view> fields;
    for (const Held& row : rows) {
      line_ = row.line;
      fields.assign(row.fields.begin(), row.fields.end());
      read_row(fields, false);
    }
  }

  void check_size(const std::vector<std::string_view>& fields) {
    line_ = rows_.line();
    // Rows of the details page end after the metric where there is no rule; rules have no metric.
    if (fields.size() <= columns_.needed() || fields.size() > columns_.count)
      broken("the row has " + std::to_string(fields.size()) + " fields, and the head " +
             std::to_string(columns_.count) + ": the file is cut off or damaged.");
    if (rows_.is_open() && fields.size() == columns_.needed() + 1)
      broken(
          "the file ends without a line break, so its last value may be cut off: if it is whole, "
          "add the line break.");
  }

  void read_row(const std::vector<std::string_view>& fields, bool repeat) {
    if (columns_.is_wide() && fields[columns_.id].empty()) {
      has_units_ = true;
      for (const auto& [column, metric] : columns_.wide) units_[column] = fields[column];
      for (std::size_t i = 0; i < columns_.attributes.size(); ++i)
        attribute_units_[i] = fields[columns_.attributes[i].first];
      for (std::size_t i = 0; i < columns_.resources.size(); ++i)
        resource_units_[i] = fields[columns_.resources[i].first];
      return;
    }
    find_launch(fields, repeat);
    if (columns_.is_wide()) {
      // Every row repeats them.
      const bool told = gpus_.has(launches_.back().device);
      for (std::size_t i = 0; i < columns_.attributes.size() && !told; ++i)
        attribute(columns_.attributes[i].second, attribute_units_[i],
                  fields[columns_.attributes[i].first]);
      for (std::size_t i = 0; i < columns_.resources.size(); ++i)
        resource(columns_.resources[i].second, resource_units_[i],
                 fields[columns_.resources[i].first]);
      for (const auto& [column, metric] : columns_.wide)
        add_value(metric, fields[column], units_[column]);
      note_without_units();
      return;
    }
    if (fields[columns_.metric].empty()) return;  // a rule
    const std::string_view unit =
        columns_.unit == kNone ? std::string_view() : fields[columns_.unit];
    // No counter is one of the others, and nearly all rows are of counters.
    if (const auto metric = metrics_.find(fields[columns_.metric], unit))
      add_value(*metric, fields[columns_.value], unit);
    else if (is_device_attribute(fields[columns_.metric]))
      return attribute(fields[columns_.metric], unit, fields[columns_.value]);
    else if (NcuResources::is_one(fields[columns_.metric]))
      return resource(fields[columns_.metric], unit, fields[columns_.value]);
    note_without_units();
    if (imported_.metrics.size() > kMostMetrics) broken("there are too many different metrics.");
  }

  // The launch that the row is of: rows of one launch follow each other.
  void find_launch(const std::vector<std::string_view>& fields, bool repeat) {
    if (repeat && !launches_.empty()) return;
    const auto is_same = [&](std::size_t column, const std::string& last) {
      return column == kNone || fields[column] == last;
    };
    if (!launches_.empty() && !columns_.is_wide() && is_same(columns_.id, id_) &&
        is_same(columns_.process, process_) && is_same(columns_.kernel, kernel_) &&
        is_same(columns_.grid, grid_))
      return;
    const auto keep = [&](std::size_t column, std::string& last) {
      if (column != kNone) last = fields[column];
    };
    keep(columns_.id, id_);
    keep(columns_.process, process_);
    keep(columns_.grid, grid_);
    if (kernel_ != fields[columns_.kernel] || launches_.empty()) {
      kernel_ = fields[columns_.kernel];
      if (kernel_.empty()) broken("the row has no kernel name.");
      function_ = imported_.functions.intern(kernel_);
    }
    Imported::CounterLaunch& launch = launches_.emplace_back();
    launch.function = function_;
    LaunchShape shape;
    if (columns_.grid != kNone) shape.grid = size(fields[columns_.grid]);
    if (columns_.block != kNone) shape.block = size(fields[columns_.block]);
    launch.shape = imported_.shapes.intern(shape);
    launch.device = device(fields);
    resources_.begin();
    launch.values.reserve(columns_.is_wide() ? columns_.wide.size() : last_values_);
    if (launches_.size() > 1) last_values_ = launches_[launches_.size() - 2].values.size();
  }

  Dim3 size(std::string_view text) const {
    const auto found = ncu_size(text);
    if (!found) broken("'" + start_of(text) + "' is not the size of a grid or block.");
    return *found;
  }

  // The device of the row, with its compute capability.
  std::int32_t device(const std::vector<std::string_view>& fields) {
    std::int32_t id = 0;
    if (columns_.device != kNone) {
      const auto number = ncu_number(fields[columns_.device]);
      if (!number || *number < 0 || *number > 1e6 || *number != std::floor(*number))
        broken("'" + start_of(fields[columns_.device]) + "' is not a device.");
      id = static_cast<std::int32_t>(*number);
    }
    DeviceInfo& device = imported_.devices[id];
    device.id = id;
    if (columns_.cc == kNone) return id;
    const std::string_view text = fields[columns_.cc];
    if (text == cc_ && id == cc_device_) return id;
    int major = 0, minor = 0;
    char behind = 0;
    // A spreadsheet writes 8 for 8.0.
    const int found = std::sscanf(std::string(text).c_str(), "%4d.%4d%c", &major, &minor, &behind);
    if ((found != 2 && (found != 1 || !std::all_of(text.begin(), text.end(), is_digit))) ||
        major < 1 || minor < 0)
      broken("'" + start_of(text) + "' is not a compute capability.");
    if (device.compute_major != 0 &&
        (device.compute_major != major || device.compute_minor != minor))
      broken("device " + std::to_string(id) + " has compute capability " + quoted_piece(text) +
             " here and " + std::to_string(device.compute_major) + "." +
             std::to_string(device.compute_minor) +
             " elsewhere: these are runs on different GPUs; import each by itself.");
    device.compute_major = major;
    device.compute_minor = minor;
    cc_ = text;
    cc_device_ = id;
    return id;
  }

  void attribute(std::string_view metric, std::string_view unit, std::string_view value) {
    if (!gpus_.take(launches_.back().device, metric, unit, value, mark()))
      broken("'" + start_of(value) + (unit.empty() ? "" : " ") + start_of(unit) +
             "' is not a value of " + std::string(metric) + ".");
  }

  void resource(std::string_view metric, std::string_view unit, std::string_view value) {
    if (!ncu_number(value, mark()) && !ncu_says_nothing(value, true)) no_number(value, metric);
    if (!resources_.take(metric, unit, value, mark()))
      unknown_units_.emplace(metric, start_of(unit));
    const Imported::CounterLaunch& launch = launches_.back();
    if (const auto known = resources_.known())
      imported_.resources.tell(launch.function, launch.shape, *known);
  }

  // A file that says no units at all was made from one with base units, or so it has to be taken.
  void note_without_units() {
    if (has_units_ || noted_) return;
    noted_ = true;
    imported_.notes.push_back(file_name() +
                              " does not say the units of its numbers: they are taken for those of "
                              "ncu --print-units base (ns, byte, cycle/second).");
  }

  void note_unknown_units() {
    if (unknown_units_.empty()) return;
    constexpr std::size_t kNamed = 3;
    std::string text;
    std::size_t named = 0;
    for (const auto& [metric, unit] : unknown_units_) {
      if (named == kNamed) break;
      text += (named++ > 0 ? ", " : "") + metric + " is in '" + unit + "'";
    }
    if (unknown_units_.size() > kNamed)
      text += " and so on, " + std::to_string(unknown_units_.size()) + " metrics";
    imported_.notes.push_back("Values in units that Gable does not understand are unknown: in " +
                              file_name() + " " + text +
                              ". ncu --print-units base prints units that it understands.");
    unknown_units_.clear();
  }

  [[nodiscard]] std::string file_name() const {
    return std::filesystem::path(source_.name()).filename().string();
  }

  // Rows of one metric have one unit nearly always.
  std::optional<double> scale_of(std::uint32_t metric, std::string_view unit) {
    if (metric >= scales_.size()) scales_.resize(metric + std::size_t{1});
    Scale& last = scales_[metric];
    if (!last.known || last.unit != unit) {
      last.known = true;
      last.unit = unit;
      last.scale = ncu_scale(metrics_.name(metric), unit);
    }
    return last.scale;
  }

  void add_value(const NcuMetric& metric, std::string_view text, std::string_view unit) {
    if (text.ends_with('%') && (unit.empty() || unit == "%")) {
      text.remove_suffix(1);
      unit = "%";
    }
    const auto number = ncu_number(text, mark());
    if (!number) {
      if (!ncu_says_nothing(text, metrics_.counts(metric.index)))
        no_number(text, metrics_.name(metric.index));
      // Asked for, and not answered: unknown, not 0.
      launches_.back().values.emplace_back(metric.index, NAN);
      return;
    }
    if (!std::isfinite(*number) || std::abs(*number) > 1e30 ||
        (*number < 0 && metrics_.counts(metric.index)))
      broken("the value " + start_of(text) + " of " + metrics_.name(metric.index) +
             " is out of range.");
    const auto scale = scale_of(metric.index, unit);
    if (!scale) unknown_units_.emplace(metrics_.name(metric.index), start_of(unit));
    launches_.back().values.emplace_back(metric.index,
                                         scale ? *number * *scale * metric.scale : NAN);
  }

  [[nodiscard]] DecimalMark mark() const { return marks_.mark().value_or(DecimalMark::point); }

  // What was read since the last head belongs together.
  void finish_file() {
    if (!held_.empty()) read_held();
    marks_ = {};
    note_unknown_units();
    scales_.clear();
    noted_ = false;
    if (launches_.empty()) return;
    merge_counters(std::move(launches_), source_.name(), imported_);
    launches_ = {};
    gpus_.finish(source_.name());
    id_.clear();
  }

  ByteSource& source_;
  Imported& imported_;
  CsvRows rows_;
  NcuMetrics metrics_;
  Columns columns_;
  NcuRowShape shape_;
  std::vector<std::string> units_, attribute_units_, resource_units_;
  bool has_units_ = false, noted_ = false;
  struct Scale {
    bool known = false;
    std::string unit;
    std::optional<double> scale;
  };
  std::vector<Scale> scales_;                         // by metric
  std::map<std::string, std::string> unknown_units_;  // of metrics
  NcuResources resources_;
  NcuGpus gpus_;
  std::vector<Imported::CounterLaunch> launches_;
  std::size_t last_values_ = 0;
  struct Held {
    std::uint64_t line = 0;
    std::vector<std::string> fields;
  };
  std::vector<Held> held_;
  std::size_t held_bytes_ = 0;
  MarkFinder marks_;        // of the numbers since the last head
  std::uint64_t line_ = 0;  // of the row that is read
  std::string id_, process_, kernel_, grid_, cc_, first_, ncu_error_, ncu_warning_;
  std::string_view separator_;  // of a head that is none
  bool is_log_ = false, is_text_ = false, has_counted_ = false;
  std::int32_t cc_device_ = -1;
  FunctionId function_ = 0;
};

}  // namespace

std::string ncu_rep_sentence(const std::string& path) {
  return path + " is a report of Nsight Compute: export it with `ncu --import " + path +
         " --csv --page raw --print-units base > " + std::filesystem::path(path).stem().string() +
         ".csv` and give that file with --ncu.";
}

void read_ncu_csv(ByteSource& source, Imported& imported) { Reader(source, imported).read(); }

}  // namespace gable

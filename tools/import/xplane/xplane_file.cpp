// SPDX-License-Identifier: Apache-2.0
#include "tools/import/xplane/xplane_file.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "tools/base/wrong_use.h"
#include "tools/import/xla/xla_work.h"
#include "tools/import/xplane/xplane_message.h"
#include "tools/import/xplane/xplane_tables.h"

namespace gable {
namespace {

using namespace xplane;

// Half a ns counts as a whole one, as in traces.
std::int64_t ns_of(std::int64_t ps) {
  const std::int64_t rest = ps % 1000;
  return ps / 1000 + (rest >= 500 ? 1 : rest <= -500 ? -1 : 0);
}

class Reader {
 public:
  Reader(ByteSource& source, SpaceTables tables, Imported& imported)
      : in_(source), tables_(std::move(tables)), imported_(imported), work_(imported) {}

  void read() {
    for (std::uint64_t place = 0; in_.next();) {
      if (!in_.has_bytes() || in_.field() != space::planes) continue;
      const auto found = tables_.planes.find(place++);
      if (found == tables_.planes.end()) continue;
      plane_ = &found->second;
      const bool host = plane_->place.kind == XlaPlace::Kind::host;
      if (host && !tables_.steps && !work_.asks_names()) continue;
      process_ = work_.number(plane_->place.process);
      in_.enter();
      while (in_.next()) {
        if (!in_.has_bytes() || in_.field() != plane::lines) continue;
        in_.enter();
        read_line(host);
        in_.leave();
      }
      in_.leave();
    }
    std::string holds;
    for (const std::string& name : tables_.shown)
      holds += (holds.empty() ? "; it has " : ", ") + quoted_piece(name);
    work_.finish(
        {in_.name(), "an XPlane file", tables_.other_device && !tables_.gpu, tables_.why, holds});
    add_devices();
    if (tables_.dropped > 0)
      imported_.notes.push_back("The profiler dropped " + std::to_string(tables_.dropped) +
                                " records of the GPU: kernels and copies are missing from its "
                                "file, and so are their times here. "
                                "Record fewer steps, or raise gpu_max_activity_api_events.");
  }

 private:
  void read_line(bool host) {
    std::string name, shown;
    std::int64_t id = 0, start = 0;
    XlaLane lane = XlaLane::other;
    std::uint32_t thread = 0;
    bool begun = false;
    while (in_.next()) {
      const std::uint32_t field = in_.field();
      if (field == line::events && in_.has_bytes()) {
        if (!begun) {
          lane = xla_lane(shown.empty() ? name : shown);
          if (host) thread = work_.number(plane_->name + '\n' + std::to_string(id));
          if (!host && lane == XlaLane::other) return;
        }
        begun = true;
        read_event(in_.bytes(), in_, event_);
        if (!event_.has_offset) continue;
        const XlaTimes times = times_of(start);
        if (host) {
          take_host(thread, times);
        } else {
          take_gpu(lane, times);
        }
        continue;
      }
      const bool head = (field == line::timestamp_ns && in_.is_number()) ||
                        (field == line::name && in_.has_bytes());
      if (begun && head)
        in_.broken("a line has its name or time behind its events, as no profiler writes it");
      if (field == line::timestamp_ns && in_.is_number())
        start = static_cast<std::int64_t>(in_.number());
      if (field == line::id && in_.is_number()) id = static_cast<std::int64_t>(in_.number());
      if (field == line::name && in_.has_bytes()) name = in_.bytes();
      if (field == line::display_name && in_.has_bytes()) shown = in_.bytes();
    }
  }

  [[nodiscard]] XlaTimes times_of(std::int64_t line_ns) const {
    XlaTimes times;
    if (event_.duration_ps < 0 ||
        __builtin_add_overflow(line_ns, ns_of(event_.offset_ps), &times.start_ns) ||
        __builtin_add_overflow(times.start_ns, ns_of(event_.duration_ps), &times.end_ns))
      in_.broken("the time of an event before this is out of range");
    return times;
  }

  void take_text(const Stat& stat) {
    const std::string_view name = plane_->stat_name(stat);
    if (name == "correlation_id") {
      if (stat.kind == Stat::Kind::whole && stat.whole >= 0)
        texts_.correlation = static_cast<std::uint64_t>(stat.whole);
    } else if (name == "step_num") {
      texts_.numbered_step = true;
    } else if (name == "cuda_graph_exec_id") {
      texts_.whole_graph = true;
    } else if (name == "step_name") {
      step_ = plane_->text_of(stat);
    } else if (std::string* text = texts_.find(name)) {
      *text = plane_->text_of(stat);
    }
  }

  // The name of the event; what it and all of its id say goes into texts_.
  [[nodiscard]] std::string_view take_texts() {
    texts_.clear();
    step_.clear();
    std::string_view name;
    if (const auto found = plane_->events.find(event_.id); found != plane_->events.end()) {
      name = found->second.name;
      for (const std::string& stat : found->second.stats) take_text(read_stat(stat, in_));
    }
    for (const Stat& stat : event_.stats) take_text(stat);
    return name;
  }

  void take_host(std::uint32_t thread, const XlaTimes& times) {
    const std::string_view name = take_texts();
    if (texts_.correlation || texts_.numbered_step || work_.asks_names())
      work_.host_event(process_, thread, name, texts_, times);
  }

  void take_gpu(XlaLane lane, const XlaTimes& times) {
    const std::string_view name = take_texts();
    if (lane == XlaLane::steps) {
      work_.step(plane_->place.device, step_.empty() ? name : step_, times);
    } else {
      work_.gpu_work(lane, plane_->place.device, process_, name, texts_, times);
    }
  }

  // Those that kernels ran on.
  void add_devices() {
    std::map<std::int32_t, const Tables*> planes;
    for (const auto& [place, tables] : tables_.planes)
      if (tables.place.kind == XlaPlace::Kind::gpu && !tables.stats.empty())
        planes.try_emplace(tables.place.device, &tables);
    for (const std::int32_t id : work_.devices())
      if (const auto found = planes.find(id); found != planes.end()) add(id, *found->second);
  }

  void add(std::int32_t id, const Tables& tables) {
    DeviceInfo device;
    device.id = id;
    std::uint64_t bandwidth = 0;
    bool amd = false;
    for (const std::string& each : tables.stats) {
      const Stat stat = read_stat(each, in_);
      const std::string_view name = tables.stat_name(stat);
      const auto number = [&](std::int64_t most) {
        const bool known = stat.kind == Stat::Kind::whole && stat.whole > 0 && stat.whole <= most;
        return known ? stat.whole : 0;
      };
      constexpr std::int64_t kMostBytes = std::int64_t{1} << 50;
      if (name == "gpu_device_name") device.name = tables.text_of(stat).substr(0, 256);
      if (name == "device_vendor") amd = tables.text_of(stat) == "AMD";
      if (name == "core_count") device.sm_count = static_cast<int>(number(1 << 20));
      if (name == "compute_cap_major") device.compute_major = static_cast<int>(number(1000));
      if (name == "compute_cap_minor") device.compute_minor = static_cast<int>(number(1000));
      if (name == "clock_rate")
        device.sm_clock_max_hz = static_cast<std::uint64_t>(number(100'000'000)) * 1000;
      if (name == "memory_size")
        device.memory_bytes = static_cast<std::uint64_t>(number(kMostBytes));
      if (name == "memory_bandwidth") bandwidth = static_cast<std::uint64_t>(number(kMostBytes));
    }
    if (amd && device.name.find("AMD") == std::string::npos)
      device.name = "AMD " + (device.name.empty() ? "GPU" : device.name);
    add_device(device, in_.name(), imported_);
    if (bandwidth > 0)
      imported_.stated.push_back({id, CeilingKind::memory, "dram", static_cast<double>(bandwidth),
                                  "theoretical: memory_bandwidth in the XPlane file"});
  }

  MessageStream in_;
  SpaceTables tables_;
  Imported& imported_;
  XlaWork work_;
  const Tables* plane_ = nullptr;
  std::uint32_t process_ = 0;
  Event event_;
  XlaTexts texts_;
  std::string step_;  // the name of a step
};

}  // namespace

void read_xplane_file(const std::function<std::unique_ptr<ByteSource>()>& open,
                      Imported& imported) {
  SpaceTables tables;
  {
    const auto source = open();
    tables = read_tables(*source, !imported.step_range.empty());
  }
  const auto source = open();
  Reader(*source, std::move(tables), imported).read();
}

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
#include "tools/import/xplane/xplane_tables.h"

#include <algorithm>
#include <charconv>

namespace gable::xplane {
namespace {

constexpr std::size_t kMostPlanes = 1u << 12, kMostShown = 6, kLongestShown = 64;
constexpr std::uint64_t kMostNames = 1u << 22;

// "… on HOST: … 3 events dropped because total device(activity) events reaches max;". Calls of the
// host that were dropped change no time.
std::uint64_t dropped_in(std::string_view warning) {
  constexpr std::string_view kDropped = " events dropped because ";
  std::uint64_t sum = 0;
  for (auto at = warning.find(kDropped); at != std::string_view::npos;
       at = warning.find(kDropped, at + 1)) {
    const std::string_view reason =
        warning.substr(at + kDropped.size(), warning.find(';', at) - at - kDropped.size());
    if (reason.find("(callback)") != std::string_view::npos) continue;
    const auto before = warning.substr(0, at).find_last_not_of("0123456789");
    const std::size_t first = before == std::string_view::npos ? 0 : before + 1;
    std::uint64_t count = 0;
    (void)std::from_chars(warning.data() + first, warning.data() + at, count);
    sum += std::min<std::uint64_t>(count, UINT32_MAX);
  }
  return sum;
}

// In words of our own: the profiler's have the host's name.
std::string why_of(std::string_view error) {
  const auto says = [error](std::string_view words) {
    return error.find(words) != std::string_view::npos;
  };
  if (says("Insufficient privilege"))
    return "the driver lets only administrators profile (docs/administrators.md)";
  if (says("No GPU detected")) return "the profiler found no GPU";
  if (says("load libcupti")) return "the profiler could not load CUPTI";
  return {};
}

class Reader {
 public:
  Reader(ByteSource& source, bool names) : in_(source), names_(names) {}

  SpaceTables read() {
    while (in_.next()) {
      if (!in_.has_bytes()) continue;
      if (in_.field() == space::planes) {
        in_.enter();
        read_plane();
        in_.leave();
        ++found_.seen;
      } else if (in_.field() == space::warnings) {
        found_.dropped += dropped_in(in_.bytes());
      } else if (in_.field() == space::errors) {
        if (const std::string why = why_of(in_.bytes()); !why.empty()) found_.why = why;
      }
    }
    return std::move(found_);
  }

 private:
  void read_plane() {
    Tables tables;
    std::uint64_t lanes = 0;
    bool begun = false;
    while (in_.next()) {
      if (!in_.has_bytes()) continue;
      if (in_.field() == plane::name) {
        if (begun) in_.broken("a plane has its name behind its lines, as no profiler writes it");
        tables.name = in_.bytes();
        tables.place = xla_place(tables.name);
        if (tables.name.find("/host:metadata") != std::string::npos) tables.place.kind = {};
        continue;
      }
      begun = true;
      if (in_.field() == plane::lines) ++lanes;
      take(tables);
    }
    show(tables, lanes);
    const XlaPlace::Kind kind = tables.place.kind;
    found_.gpu = found_.gpu || kind == XlaPlace::Kind::gpu;
    found_.other_device = found_.other_device || kind == XlaPlace::Kind::other_device;
    const bool useful = kind == XlaPlace::Kind::gpu ||
                        (kind == XlaPlace::Kind::host && (names_ || !tables.texts.empty()));
    if (!useful || lanes == 0) return;
    if (found_.planes.size() >= kMostPlanes)
      in_.broken("there are more planes of GPUs and hosts than any machine has");
    found_.planes.emplace(found_.seen, std::move(tables));
  }

  void show(const Tables& tables, std::uint64_t lanes) {
    if (found_.shown.size() >= kMostShown || lanes == 0) return;
    found_.shown.push_back(tables.name.substr(0, kLongestShown) + " (" + std::to_string(lanes) +
                           (lanes == 1 ? " lane)" : " lanes)"));
  }

  void take(Tables& tables) {
    const bool gpu = tables.place.kind == XlaPlace::Kind::gpu;
    if (!gpu && tables.place.kind != XlaPlace::Kind::host) return;
    if (in_.field() == plane::event_metadata && (gpu || names_)) {
      const Metadata metadata = read_metadata(in_.bytes(), in_);
      Tables::EventName& event = tables.events[metadata.id];
      event.name = metadata.name;
      event.stats.assign(metadata.stats.begin(), metadata.stats.end());
      count();
    } else if (in_.field() == plane::stat_metadata) {
      const Metadata metadata = read_metadata(in_.bytes(), in_);
      const bool step = metadata.name == "step_num";
      found_.steps = found_.steps || step;
      // Of the host's events nothing else counts.
      if (!gpu && !step && metadata.name != "correlation_id") return;
      tables.texts[metadata.id] = metadata.name;
      count();
    } else if (in_.field() == plane::stats && gpu) {
      tables.stats.emplace_back(in_.bytes());
      count();
    }
  }

  void count() {
    if (++counted_ > kMostNames) in_.broken("the planes have more names than any profile");
  }

  MessageStream in_;
  bool names_;
  SpaceTables found_;
  std::uint64_t counted_ = 0;
};

}  // namespace

std::string_view Tables::stat_name(const Stat& stat) const {
  const auto found = texts.find(stat.id);
  return found == texts.end() ? std::string_view() : found->second;
}

std::string Tables::text_of(const Stat& stat) const {
  if (stat.kind == Stat::Kind::text) return std::string(stat.text);
  if (stat.kind == Stat::Kind::whole) return std::to_string(stat.whole);
  if (stat.kind != Stat::Kind::reference || stat.reference > INT64_MAX) return {};
  const auto found = texts.find(static_cast<std::int64_t>(stat.reference));
  return found == texts.end() ? std::string() : found->second;
}

SpaceTables read_tables(ByteSource& source, bool names) { return Reader(source, names).read(); }

}  // namespace gable::xplane

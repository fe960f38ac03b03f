// SPDX-License-Identifier: Apache-2.0
#include "analysis/report/report_json_read.h"

#include <exception>
#include <new>
#include <unordered_map>
#include <utility>

#include "analysis/events/layer_tree.h"
#include "analysis/report/json_object.h"
#include "analysis/report/report_fields.h"

namespace gable {
namespace {

using json::Object;
using json::WrongField;

class Reader {
 public:
  explicit Reader(const Object& in) : in_(in) {}

  void operator()(const char* name, auto& out) { in_.read(name, out); }
  template <typename T>
  void needed(const char* name, T& out) {
    if (in_.find(name) == nullptr) throw WrongField(in_.at(name).text() + " is missing");
    if constexpr (std::is_class_v<T>)
      object(name, out);
    else
      in_.read(name, out);
  }
  void known(const char* name, auto& out) { in_.read(name, out); }
  void known(const char* name, Dim3& out) {
    out = {0, 0, 0};
    in_.read(name, out);
  }
  void count(const char* name, auto& out) { in_.read_count(name, out); }
  void derived(const char*, const auto&) {}
  template <typename Enum>
  void word(const char* name, Enum& out) {
    std::string text;
    in_.read(name, text);
    if (in_.find(name) == nullptr) return;
    const auto value = value_of<Enum>(text);
    if (!value) throw WrongField(in_.at(name).text() + " is not " + choice_of_words<Enum>());
    out = *value;
  }
  void inside(const char* name, const auto& visit) {
    in_.inside(name, [&](const Object& object) {
      Reader in(object);
      visit(in);
    });
  }
  template <typename Struct>
  void object(const char* name, Struct& out) {
    inside(name, [&](Reader& in) { fields(in, out); });
  }
  template <typename Struct>
  void object(const char* name, std::optional<Struct>& out) {
    inside(name, [&](Reader& in) { fields(in, out.emplace()); });
  }
  // `visit`: what the fields of each are, where that is not `fields`.
  template <typename Struct>
  void list(const char* name, std::vector<Struct>& out, const auto& visit) {
    in_.objects(name, [&](const Object& object) {
      Reader in(object);
      visit(in, out.emplace_back());
    });
  }
  template <typename Struct>
  void list(const char* name, std::vector<Struct>& out) {
    list(name, out, [](Reader& in, Struct& each) { fields(in, each); });
  }
  template <typename Struct>
  void list(const char* name, std::optional<std::vector<Struct>>& out) {
    if (in_.find(name) != nullptr) list(name, out.emplace());
  }

 private:
  const Object& in_;
};

// Schema 1 had one time of a step, that of the host, and related everything to it.
void read_as_host_time(Report& report) {
  Step& step = report.step;
  step.host_mean_ns = std::exchange(step.wall_mean_ns, std::nullopt);
  step.host_stddev_ns = std::exchange(step.wall_stddev_ns, std::nullopt);
  step.idle_ns = step.mfu = step.hfu = std::nullopt;
  for (MergedProcess& process : report.run.processes)
    process.step_host_ns = std::exchange(process.step_wall_ns, std::nullopt);
  for (LayerRow& layer : report.layers) {
    if (layer.tokens) layer.tokens->host_ns = std::exchange(layer.tokens->wall_ns, std::nullopt);
  }
}

// Layers are a tree, no deeper than the layers of a program can be.
void check_tree(const std::vector<LayerRow>& layers) {
  constexpr std::size_t kDeepest = LayerTree::kMaxDepth + 1;
  const auto name = [](std::size_t place) { return "layers[" + std::to_string(place) + "]"; };
  std::unordered_map<std::int64_t, std::size_t> places;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const auto [first, fresh] = places.try_emplace(layers[i].id, i);
    if (!fresh) throw WrongField(name(i) + ".id is also that of " + name(first->second));
  }
  for (std::size_t i = 0; i < layers.size(); ++i) {
    std::size_t above = 0;
    for (const LayerRow* at = &layers[i]; at->parent; ++above) {
      const auto parent = places.find(*at->parent);
      if (parent == places.end()) throw WrongField(name(i) + " has a parent that is not a layer");
      at = &layers[parent->second];
      if (at == &layers[i]) throw WrongField(name(i) + " is among its own parents");
      if (above > kDeepest)
        throw WrongField(name(i) + " has more than " + std::to_string(kDeepest) + " parents");
    }
  }
}

ParsedReport parse(std::string_view text) {
  const rapidjson::Document json = json::parsed(text);
  if (!json.IsObject() || !json.HasMember("gable"))
    return {std::nullopt, "This is not a Gable report: it has no field \"gable\"."};
  const json::Where top;
  const Object root(json, top);
  Report report;
  report.schema = 0;
  root.inside("gable", [&](const Object& gable) {
    gable.read("schema", report.schema);
    gable.read("version", report.version);
  });
  if (report.schema > kReportSchema) {
    return {std::nullopt, "This report has schema " + std::to_string(report.schema) +
                              ", but this program reads schemas up to " +
                              std::to_string(kReportSchema) +
                              ": use the gable that wrote it, or a newer one."};
  }
  if (report.schema < 1)
    return {std::nullopt, "This is not a Gable report: gable.schema is missing or below 1."};
  Reader reader(root);
  fields(reader, report);
  check_tree(report.layers);
  if (report.schema == 1) read_as_host_time(report);
  report.schema = kReportSchema;
  return {std::move(report), {}};
}

}  // namespace

ParsedReport from_json(std::string_view text) {
  try {
    return parse(text);
  } catch (const json::NoJson& error) {
    if (error.too_large)
      return {std::nullopt, "This report is damaged: a number near byte " +
                                std::to_string(error.byte) + " is out of range."};
    return {std::nullopt, "This is not JSON, or it was cut off: something is wrong at byte " +
                              std::to_string(error.byte) + "."};
  } catch (const WrongField& error) {
    return {std::nullopt, "This report is damaged: " + std::string(error.what()) + "."};
  } catch (const std::bad_alloc&) {
    return {std::nullopt, "This report is too large for this machine's memory."};
  } catch (const std::exception& error) {
    return {std::nullopt, "This report could not be read: " + std::string(error.what()) + "."};
  }
}

}  // namespace gable

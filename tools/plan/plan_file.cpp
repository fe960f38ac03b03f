// SPDX-License-Identifier: Apache-2.0
#include "tools/plan/plan_file.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tools/base/wrong_use.h"

namespace gable {
namespace {

using Json = nlohmann::json;

constexpr double kMost = 1e30;  // of any number: sums of a million of them are finite
constexpr double kMostRunBatch = 1e9;

struct Wrong {
  std::string sentence;
};

// One object of the document, and where it is: "runs[0].operators[3].".
class Part {
 public:
  Part(const Json& json, std::string place) : json_(json), place_(std::move(place)) {
    if (!json.is_object()) throw Wrong{named("") + " must be an object."};
  }

  [[nodiscard]] const Json& at(const char* name) const {
    const auto found = json_.find(name);
    if (found == json_.end()) throw Wrong{named(name) + " is missing."};
    return *found;
  }
  [[nodiscard]] bool has(const char* name) const {
    const auto found = json_.find(name);
    return found != json_.end() && !found->is_null();
  }
  [[nodiscard]] Part object(const char* name) const { return {at(name), place_ + name + "."}; }
  [[nodiscard]] std::string text(const char* name) const {
    const Json& value = at(name);
    if (!value.is_string()) throw Wrong{named(name) + " must be a text."};
    return value.get<std::string>();
  }
  [[nodiscard]] std::string text_or_none(const char* name) const {
    return has(name) ? text(name) : std::string();
  }
  [[nodiscard]] double number(const char* name, double least = 0, double most = kMost) const {
    const Json& value = at(name);
    const double out = value.is_number() ? value.get<double>() : -1;
    if (!(out >= least && out <= most))
      throw Wrong{named(name) + " must be a number that is not negative."};
    return out;
  }
  [[nodiscard]] double whole(const char* name, double least, double most) const {
    const double out = number(name, least, most);
    if (out != std::floor(out)) throw Wrong{named(name) + " must be a whole number."};
    return out;
  }
  [[nodiscard]] Maybe maybe(const char* name) const {
    return has(name) ? Maybe(number(name)) : std::nullopt;
  }
  [[nodiscard]] std::vector<std::string> texts(const char* name) const {
    std::vector<std::string> out;
    for (const Json& each : list(name)) {
      if (!each.is_string()) throw Wrong{named(name) + " must be a list of texts."};
      out.push_back(each.get<std::string>());
    }
    return out;
  }
  [[nodiscard]] std::vector<Part> objects(const char* name) const {
    std::vector<Part> out;
    for (const Json& each : list(name))
      out.emplace_back(each, place_ + name + "[" + std::to_string(out.size()) + "].");
    return out;
  }
  [[nodiscard]] std::string named(const std::string& name) const {
    std::string place = place_ + name;
    if (name.empty() && !place.empty()) place.pop_back();
    return place.empty() ? "It" : "\"" + place + "\"";
  }

 private:
  [[nodiscard]] const Json& list(const char* name) const {
    const Json& value = at(name);
    if (!value.is_array()) throw Wrong{named(name) + " must be a list."};
    return value;
  }

  const Json& json_;
  std::string place_;
};

PlanOperator operator_of(const Part& part, std::size_t layers) {
  PlanOperator out;
  if (layers == 0) throw Wrong{"\"layers\" is empty."};
  out.layer = static_cast<std::size_t>(part.whole("layer", 0, static_cast<double>(layers - 1)));
  const auto direction = value_of<Direction>(part.text("direction"));
  if (!direction)
    throw Wrong{part.named("direction") + " must be " + choice_of_words<Direction>() + "."};
  out.direction = *direction;
  out.name = part.text("name");
  out.type = part.text("type");
  out.count = part.whole("count", 1, 1e12);
  out.flops = part.maybe("flops");
  out.read_bytes = part.maybe("read_bytes");
  out.written_bytes = part.maybe("written_bytes");
  out.fused_bytes = part.maybe("fused_bytes");
  return out;
}

PlanRun run_of(const Part& part, std::size_t layers) {
  PlanRun out;
  out.batch = static_cast<std::uint64_t>(part.whole("batch", 1, kMostRunBatch));
  out.asked = !part.has("asked") || part.at("asked") != false;
  out.tokens_per_sample = part.maybe("tokens_per_sample");
  out.input_bytes = part.number("input_bytes");
  out.kept_bytes = part.maybe("kept_bytes");
  out.peak_bytes = part.number("peak_bytes");
  out.kv_bytes = part.maybe("kv_bytes");
  for (const Part& each : part.objects("operators"))
    out.operators.push_back(operator_of(each, layers));
  return out;
}

Plan plan_of(const Part& part) {
  Plan out;
  const double schema = part.whole("gable_plan", 1, 1e6);
  if (schema > kPlanSchema)
    throw Wrong{"It is of version " + std::to_string(static_cast<int>(schema)) +
                ", and this gable reads versions up to " + std::to_string(kPlanSchema) + "."};
  const Part model = part.object("model");
  out.name = model.text("name");
  out.from = model.text("from");
  out.parameters = model.number("parameters");
  out.parameter_bytes = model.number("parameter_bytes");
  out.buffer_bytes = model.number("buffer_bytes");
  out.torch = part.object("made_with").text("torch");
  out.precision = part.text_or_none("precision");
  out.inputs = part.texts("inputs");
  out.past_tokens = part.number("past_tokens");
  if (part.has("training")) {
    const Part training = part.object("training");
    out.training =
        PlanTraining{training.text("optimizer"), training.number("trained_parameters"),
                     training.number("gradient_bytes"), training.number("optimizer_bytes")};
  }
  for (const Part& each : part.objects("layers")) {
    PlanLayer& layer = out.layers.emplace_back();
    layer.path = each.texts("path");
    layer.kind = each.text("class");
    layer.parameters = each.number("parameters");
  }
  for (const Part& each : part.objects("runs")) out.runs.push_back(run_of(each, out.layers.size()));
  if (out.runs.empty()) throw Wrong{"\"runs\" is empty."};
  std::stable_sort(out.runs.begin(), out.runs.end(),
                   [](const PlanRun& a, const PlanRun& b) { return a.batch < b.batch; });
  for (std::size_t i = 1; i < out.runs.size(); ++i)
    if (out.runs[i].batch == out.runs[i - 1].batch)
      throw Wrong{"\"runs\" has batch " + std::to_string(out.runs[i].batch) + " twice."};
  out.notes = part.texts("notes");
  return out;
}

}  // namespace

Plan plan_from_json(std::string_view text, const std::string& what) {
  try {
    const Json json = Json::parse(text.begin(), text.end(), nullptr, false);
    if (json.is_discarded()) throw Wrong{"It is not JSON."};
    return plan_of(Part(json, ""));
  } catch (const Wrong& wrong) {
    throw WrongUse(what + " is no plan: " + wrong.sentence +
                   " Files for this command come from gable plan --json.");
  }
}

bool is_plan(std::string_view text) {
  const Json json = Json::parse(text.begin(), text.end(), nullptr, false);
  return json.is_object() && json.contains("gable_plan");
}

}  // namespace gable

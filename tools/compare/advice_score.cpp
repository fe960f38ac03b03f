// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/advice_score.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/base/display.h"
#include "tools/advice/advice.h"

namespace gable {
namespace {

using Key = std::tuple<std::string, Direction, std::int32_t>;

// How much shorter each layer's own work got, by its path in A.
std::map<Key, double> shorter_by(const Comparison& comparison) {
  std::map<Key, double> out;
  for (const ComparedRow& row : comparison.layers) {
    if (row.counts_again || row.layer_row == nullptr || !row.time_ns.a || !row.time_ns.b) continue;
    const std::string& path = row.before.empty() ? row.name : row.before;
    out[{path, row.direction, row.device}] +=
        row.beyond_noise() ? *row.time_ns.a - *row.time_ns.b : 0;
  }
  return out;
}

}  // namespace

std::string AdviceScore::line() const {
  constexpr std::size_t kNamed = 3, kWidth = 40;
  std::string text = id;
  std::replace(text.begin(), text.end(), '_', ' ');
  text += ": predicted up to " + duration(predicted_ns) + ", measured " + duration(measured_ns);
  if (left.empty()) return text + ".";
  text += "; " + std::to_string(left.size()) + (left.size() == 1 ? " layer" : " layers") +
          " did not follow: ";
  for (std::size_t i = 0; i < std::min(kNamed, left.size()); ++i)
    text += (i > 0 ? ", " : "") + shorten_middle(one_line(left[i]), kWidth);
  if (left.size() > kNamed) text += " and " + std::to_string(left.size() - kNamed) + " more";
  return text + ".";
}

std::vector<AdviceScore> score_advice(const Report& a, const Comparison& comparison) {
  std::vector<AdviceScore> out;
  if (!comparison.obstacles.empty() || !comparison.other_work.empty()) return out;
  const std::map<Key, double> shorter = shorter_by(comparison);
  for (const Advice& advice : advise(a)) {
    if (!advice.saving_ns || !(*advice.saving_ns > 0)) continue;
    AdviceScore score{advice.id, *advice.saving_ns, 0, {}};
    bool followed = false;
    if (advice.id == "idle" || advice.id == "input") {
      const Compared& idle = comparison.step.idle_ns;
      if (idle.a && idle.b) score.measured_ns = *idle.a - *idle.b;
      followed = true;
    } else {
      for (const AdvicePlace& place : advice.layers) {
        const auto found = shorter.find({place.name, place.direction, place.device});
        if (found == shorter.end() || !(place.saving_ns > 0)) continue;
        score.measured_ns += found->second;
        const bool follows = found->second >= kFollowed * place.saving_ns;
        followed = followed || follows;
        if (follows) continue;
        score.left.push_back(place.name + (place.direction == Direction::none
                                               ? std::string()
                                               : " (" + to_string(place.direction) + ")"));
      }
    }
    if (followed && score.measured_ns >= kTaken * score.predicted_ns)
      out.push_back(std::move(score));
  }
  return out;
}

}  // namespace gable

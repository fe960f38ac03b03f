// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/advice_score.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

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

std::string words_of(const std::string& id) {
  std::string text = id;
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

bool is_of_idle_time(const Advice& advice) {
  return advice.id == "idle" || advice.id == "input" || advice.id == "waits";
}

// Whether idle time may have gone because of this advice. Of waits it is known: the host took less
// time from them to its next launch.
bool may_have_followed(const Advice& advice, const ComparedStep& step) {
  if (advice.id != "waits") return true;
  const Compared& waits = step.waits_ns;
  return waits.a && waits.b && *waits.a - *waits.b >= kFollowed * *waits.a;
}

// What one item may claim: by layer, its promise and how much shorter the layer got. Idle time is
// the layer without a name.
struct Claim {
  AdviceScore score;
  std::map<Key, std::pair<double, double>> gains;
};

// Each gain goes to the claim that promised most of it.
void share_out(std::vector<Claim>& claims) {
  std::map<Key, std::size_t> owners;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    for (const auto& [key, gain] : claims[i].gains) {
      const auto [at, first] = owners.emplace(key, i);
      if (!first && gain.first > claims[at->second].gains.at(key).first) at->second = i;
    }
  }
  for (std::size_t i = 0; i < claims.size(); ++i) {
    AdviceScore& score = claims[i].score;
    std::set<std::size_t> others;
    score.shared_ns = 0;
    for (const auto& [key, gain] : claims[i].gains) {
      if (owners.at(key) == i) continue;
      score.shared_ns += gain.second;
      if (gain.second != 0) others.insert(owners.at(key));
    }
    score.others.clear();
    for (const std::size_t other : others) score.others.push_back(claims[other].score.id);
    score.measured_ns = std::max(0.0, score.shorter_ns - score.shared_ns);
  }
}

// Nothing says that an item was taken whose layers got shorter as another one's: what is left to it
// is not a tenth of its promise. The smallest of these gives back what it has, until none is left.
void count_once(std::vector<Claim>& claims) {
  for (;;) {
    share_out(claims);
    const auto none = std::find_if(claims.rbegin(), claims.rend(), [](const Claim& claim) {
      return claim.score.measured_ns < kTaken * claim.score.predicted_ns;
    });
    if (none == claims.rend()) return;
    claims.erase(std::next(none).base());
  }
}

// Together no more than the step's own gain.
void cut_to_the_step(std::vector<Claim>& claims, const Compared& step) {
  if (!step.a || !step.b) return;
  constexpr double kRounding = 1e-9;
  double sum = 0;
  for (const Claim& claim : claims) sum += claim.score.measured_ns;
  const double gained = std::max(0.0, *step.a - *step.b);
  if (sum <= gained * (1 + kRounding)) return;
  for (Claim& claim : claims) {
    claim.score.cut = claim.score.measured_ns > 0;
    claim.score.measured_ns *= gained / sum;
  }
}

}  // namespace

std::string AdviceScore::remark() const {
  std::string text;
  if (exceeds())
    text +=
        ", more than promised: another change helped, or the new kernels come closer to "
        "their roofs";
  if (!others.empty() && shared_ns > 0) {
    text += "; another " + duration(shared_ns) + " of its layers count for ";
    for (std::size_t i = 0; i < others.size(); ++i)
      text += (i == 0 ? "" : i + 1 < others.size() ? ", " : " and ") + words_of(others[i]);
  }
  if (cut)
    text += "; its layers got shorter by " + duration(shorter_ns - shared_ns) +
            (measured_ns > 0 ? ", but the step gained less" : ", but the step did not");
  return text;
}

std::string AdviceScore::line() const {
  constexpr std::size_t kNamed = 3, kWidth = 40;
  std::string text = words_of(id) + ": predicted up to " + duration(predicted_ns) + ", measured " +
                     duration(measured_ns) + remark();
  if (left.empty()) return text + ".";
  text += "; " + std::to_string(left.size()) + (left.size() == 1 ? " layer" : " layers") +
          " did not follow: ";
  for (std::size_t i = 0; i < std::min(kNamed, left.size()); ++i)
    text += (i > 0 ? ", " : "") + shorten_middle(one_line(left[i]), kWidth);
  if (left.size() > kNamed) text += " and " + std::to_string(left.size() - kNamed) + " more";
  return text + ".";
}

std::vector<AdviceScore> score_advice(const Report& a, const Comparison& comparison) {
  if (!comparison.obstacles.empty() || !comparison.other_work.empty()) return {};
  const std::map<Key, double> shorter = shorter_by(comparison);
  std::vector<Claim> claims;
  for (const Advice& advice : advise(a)) {
    if (!advice.saving_ns || !(*advice.saving_ns > 0)) continue;
    Claim claim;
    AdviceScore& score = claim.score;
    score.id = advice.id;
    score.predicted_ns = *advice.saving_ns;
    bool followed = false;
    if (is_of_idle_time(advice)) {
      const Compared& idle = comparison.step.idle_ns;
      if (idle.a && idle.b) score.shorter_ns = *idle.a - *idle.b;
      claim.gains[Key()] = {score.predicted_ns, score.shorter_ns};
      followed = may_have_followed(advice, comparison.step);
    } else {
      for (const AdvicePlace& place : advice.layers) {
        const Key key{place.name, place.direction, place.device};
        const auto found = shorter.find(key);
        if (found == shorter.end() || !(place.saving_ns > 0)) continue;
        score.shorter_ns += found->second;
        claim.gains[key] = {place.saving_ns, found->second};
        const bool follows = found->second >= kFollowed * place.saving_ns;
        followed = followed || follows;
        if (follows) continue;
        score.left.push_back(place.name + (place.direction == Direction::none
                                               ? std::string()
                                               : " (" + to_string(place.direction) + ")"));
      }
    }
    if (followed && score.shorter_ns >= kTaken * score.predicted_ns)
      claims.push_back(std::move(claim));
  }
  count_once(claims);
  cut_to_the_step(claims, comparison.step.wall_ns);
  std::vector<AdviceScore> out;
  out.reserve(claims.size());
  for (Claim& claim : claims) out.push_back(std::move(claim.score));
  return out;
}

}  // namespace gable

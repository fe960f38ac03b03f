// SPDX-License-Identifier: Apache-2.0
#include "analysis/profile/key_choice.h"

#include <algorithm>
#include <cmath>

#include "analysis/profile/profile_state.h"

namespace gable {

KeyChoice choose_keys(const Profile& profile, const ChoiceRequest& request) {
  auto query = request.query;
  query.window = kNoWindow;
  query.guess = true;
  auto wants = key_wants(profile, query);
  const auto launches_of = [&](const KeyWant& want) {
    const auto windows = static_cast<double>(std::max<std::uint64_t>(request.windows, 1));
    return std::max<std::uint64_t>(1, std::llround(want.launches / windows));
  };
  std::uint64_t whole = 0;
  for (const auto& want : wants) whole += launches_of(want);
  const bool any_lacks =
      std::any_of(wants.begin(), wants.end(), [](const KeyWant& want) { return want.lacks; });
  if (any_lacks && !request.all)
    std::erase_if(wants, [](const KeyWant& want) { return !want.lacks; });
  std::sort(wants.begin(), wants.end(), [](const KeyWant& a, const KeyWant& b) {
    const double first = a.ns * a.launches, second = b.ns * b.launches;
    return first != second ? first > second : a.key < b.key;
  });

  KeyChoice choice;
  std::uint64_t wanted = 0;
  for (const auto& want : wants) wanted += launches_of(want);
  choice.least = std::min(wanted, std::max(kLeastLaunches, wanted / 8));
  if (request.all)
    choice.least = whole;
  else if (!wants.empty())
    choice.least = std::max(choice.least, launches_of(wants.front()));
  if (request.room < choice.least) return choice;
  const auto& rows = profile.state().keys.rows();
  for (const auto& want : wants) {
    const auto launches = launches_of(want);
    if (!request.all && choice.launches + launches > request.room) break;
    choice.launches += launches;
    choice.keys.insert(rows[want.key].key);
  }
  // The next key may be one of many launches: fewer than the least are better than none.
  choice.least = std::min(choice.least, choice.launches);
  return choice;
}

}  // namespace gable

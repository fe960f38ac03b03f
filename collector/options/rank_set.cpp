// SPDX-License-Identifier: Apache-2.0
#include "collector/options/rank_set.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace gable {
namespace {

constexpr std::int64_t kMostRanks = std::int64_t{1} << 40;

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value >= 0 && value <= kMostRanks ? std::optional(value) : std::nullopt;
}

// Takes the text before the next `mark`, and the mark; takes everything without one.
std::string_view take_to(std::string_view& text, char mark) {
  const std::size_t at = std::min(text.find(mark), text.size());
  const std::string_view piece = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return piece;
}

}  // namespace

std::optional<RankSet> RankSet::parse(const std::string& text) {
  RankSet set;
  if (text.empty() || text.back() == ',') return std::nullopt;
  for (std::string_view rest = text; !rest.empty();) {
    std::string_view piece = take_to(rest, ',');
    const auto marks = std::count(piece.begin(), piece.end(), ':');
    const std::string_view begin = take_to(piece, ':'), end = take_to(piece, ':');
    Slice slice;
    const auto read = [](std::string_view digits, std::int64_t& value) {
      const auto given = number(digits);
      if (given) value = *given;
      return given || digits.empty();
    };
    if (marks > 2 || !read(begin, slice.begin) || !read(end, slice.end) || !read(piece, slice.step))
      return std::nullopt;
    if (marks == 0 && begin.empty()) return std::nullopt;
    if (marks == 0) slice.end = slice.begin + 1;
    if (slice.step == 0 || slice.end <= slice.begin) return std::nullopt;
    set.slices_.push_back(slice);
  }
  return set;
}

bool RankSet::holds(std::int64_t rank) const {
  return std::any_of(slices_.begin(), slices_.end(), [rank](const Slice& slice) {
    return rank >= slice.begin && rank < slice.end && (rank - slice.begin) % slice.step == 0;
  });
}

bool leaves_out(const std::string& ranks, std::optional<std::int64_t> rank) {
  if (ranks.empty() || !rank) return false;
  const auto set = RankSet::parse(ranks);
  return set && !set->holds(*rank);
}

}  // namespace gable

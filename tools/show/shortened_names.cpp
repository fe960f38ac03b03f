// SPDX-License-Identifier: Apache-2.0
#include "tools/show/shortened_names.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "analysis/base/display.h"

namespace gable {
namespace {

constexpr const char* kEllipsis = "\xE2\x80\xA6";
constexpr std::size_t kLeastEnd = 4;  // columns of a name's end that say something

bool begins_within(std::string_view text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
}

// Names that begin and end alike.
class Alike {
 public:
  explicit Alike(const std::set<std::string>& names) {
    const std::string& first = *names.begin();
    before_ = behind_ = first.size();
    for (const std::string& name : names) {
      const std::size_t most = std::min(name.size(), first.size());
      const auto same = [most](auto a, auto b) {
        return static_cast<std::size_t>(
            std::mismatch(a, a + static_cast<std::ptrdiff_t>(most), b).first - a);
      };
      before_ = std::min(before_, same(first.begin(), name.begin()));
      behind_ = std::min(behind_, same(first.rbegin(), name.rbegin()));
    }
    std::size_t shortest = first.size();
    for (const std::string& name : names) shortest = std::min(shortest, name.size());
    behind_ = std::min(behind_, shortest - before_);
    while (before_ > 0 && begins_within(first, before_)) --before_;
  }

  // "…/layers.7/mlp…/mm": from the part of the path on in which it differs.
  [[nodiscard]] std::string of(const std::string& name, std::size_t columns) const {
    if (columns < 2) return columns == 0 ? "" : kEllipsis;
    const std::size_t room = columns - 1;
    const std::size_t slash = before_ == 0 ? name.npos : name.rfind('/', before_ - 1);
    std::size_t begin = slash == name.npos ? 0 : slash;
    if (display_width(name.substr(begin, before_ - begin)) > room / 2) begin = before_;
    const std::size_t end = std::min(name.find('/', name.size() - behind_), name.size());
    const std::string part = name.substr(begin, end - begin);
    const std::size_t used = display_width(part);
    std::string rest = name.substr(end);
    if (used > room) return kEllipsis + shorten_end(part, room);
    if (used + display_width(rest) <= room) return kEllipsis + part + rest;
    if (used + 1 + kLeastEnd > room) return kEllipsis + part;
    while (used + 1 + display_width(rest) > room || begins_within(rest, 0)) rest.erase(0, 1);
    return kEllipsis + part + kEllipsis + rest;
  }

 private:
  std::size_t before_ = 0, behind_ = 0;  // bytes
};

}  // namespace

std::vector<std::string> shortened_names(const std::vector<std::string>& names,
                                         std::size_t columns) {
  std::vector<std::string> shown;
  std::map<std::string, std::set<std::string>> looks;
  for (const std::string& name : names) {
    shown.push_back(shorten_middle(name, columns));
    looks[shown.back()].insert(name);
  }
  for (std::size_t i = 0; i < names.size(); ++i)
    if (const std::set<std::string>& alike = looks[shown[i]]; alike.size() > 1)
      shown[i] = Alike(alike).of(names[i], columns);
  return shown;
}

}  // namespace gable

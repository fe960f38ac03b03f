// SPDX-License-Identifier: Apache-2.0
#include "tools/show/shortened_names.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "analysis/base/display.h"

namespace gable {
namespace {

constexpr const char* kEllipsis = "\xE2\x80\xA6";
constexpr std::string_view kResult = "void ";  // what kernels return says nothing
constexpr std::size_t kLeastEnd = 4;           // columns of a name's end that say something
constexpr std::size_t kMostWords = 300;        // of a name; the rest is one more

bool is_of_word(char c) {
  // Bytes of a letter beyond ASCII stay together.
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' ||
         (static_cast<unsigned char>(c) & 0x80) != 0;
}

// "cudnn", "::", "bn_", "fw_", "kernel", "<", "layer{1..4}" …
std::vector<std::string_view> words_of(std::string_view name) {
  std::vector<std::string_view> words;
  while (!name.empty()) {
    std::size_t length = 0;
    while (length < name.size() && is_of_word(name[length])) ++length;
    while (length > 0 && length < name.size() && name[length] == '_') ++length;
    // A list of equal layers' parts; a lambda's braces hold more.
    constexpr std::size_t kLongestList = 24;
    if (length < name.size() && name[length] == '{') {
      const std::size_t end = name.find('}', length);
      if (end != name.npos && end - length <= kLongestList) length = end + 1;
    }
    if (length == 0) length = name.starts_with("::") ? 2 : 1;
    if (words.size() == kMostWords) length = name.size();
    words.push_back(name.substr(0, length));
    name.remove_prefix(length);
  }
  return words;
}

// Where a name says what it is of: a kernel's function, the last part of a path up to its sizes.
struct Core {
  std::size_t begin = 0, end = 0;  // bytes
  std::size_t launch = 0;          // of " <<<16x2, 128>>>"; the name's size without one
  bool path = false;
};

// Behind the last separator that is outside of brackets; 0 without one.
std::size_t behind_last(std::string_view separator, std::string_view name, std::size_t end) {
  std::size_t behind = 0;
  int depth = 0;
  for (std::size_t i = 0; i < end; ++i) {
    const char c = name[i];
    if (c == '<' || c == '(' || c == '[') ++depth;
    if ((c == '>' || c == ')' || c == ']') && depth > 0) --depth;
    if (depth == 0 && name.substr(i, end - i).starts_with(separator)) behind = i + separator.size();
  }
  return behind;
}

Core core_of(std::string_view name) {
  constexpr std::string_view kUnnamed = "(anonymous namespace)::";
  Core core;
  core.launch = std::min(name.find(" <<<"), name.size());
  core.begin = behind_last("/", name, core.launch);
  core.path = core.begin > 0;
  if (!core.path) {
    if (name.starts_with(kResult)) core.begin = kResult.size();
    std::size_t parameters = name.rfind(kUnnamed);
    parameters = parameters == name.npos ? core.begin : parameters + kUnnamed.size();
    const std::size_t sizes = std::min(name.find_first_of("([", parameters), core.launch);
    core.begin = std::max(core.begin, behind_last("::", name, sizes));
  }
  core.end = std::min(name.find_first_of("<([,", core.begin), core.launch);
  if (core.end == core.begin) core.end = core.launch;
  while (core.end > core.begin + 1 && name[core.end - 1] == ' ') --core.end;
  return core;
}

// A name whose words are left out one by one.
class Shortened {
 public:
  Shortened(const std::string& name, std::size_t columns)
      : words_(words_of(name)), kept_(words_.size(), false), columns_(columns) {
    const Core core = core_of(name);
    std::size_t at = 0;
    for (const std::string_view word : words_) {
      widths_.push_back(display_width(word));
      in_core_.push_back(at >= core.begin && at < core.end);
      in_launch_.push_back(at >= core.launch);
      if (in_core_.back()) core_width_ += widths_.back();
      if (in_launch_.back()) launch_width_ += widths_.back();
      at += word.size();
    }
    path_ = core.path;
    silent_ = name.starts_with(kResult) ? 2 : 0;
  }

  // As much as there is room for: first of the core, then of what `differs`, then the launch, then
  // what is next to the core.
  [[nodiscard]] std::string text(const std::vector<bool>& differs) {
    const auto all = [&](auto wanted) {
      const std::vector<bool> before = kept_;
      for (std::size_t i = 0; i < kept_.size(); ++i) kept_[i] = kept_[i] || wanted(i);
      if (width() <= columns_) return true;
      kept_ = before;
      return false;
    };
    const auto each = [&](auto wanted) {
      for (std::size_t i = 0; i < kept_.size(); ++i)
        if (wanted(i) && !keep(i)) break;
    };
    const auto core = [&](std::size_t i) { return bool(in_core_[i]); };
    const auto launch = [&](std::size_t i) { return bool(in_launch_[i]); };
    // Once each: "measure|forward/measure" differs in one word.
    const auto differing = [&](std::size_t i) {
      return differs[i] && is_word(i) &&
             std::find(words_.begin(), words_.begin() + static_cast<std::ptrdiff_t>(i),
                       words_[i]) == words_.begin() + static_cast<std::ptrdiff_t>(i);
    };
    if (!all([&](std::size_t i) { return core(i) || differing(i); })) {
      // A core that leaves no room for what differs is shortened, too.
      if (core_width_ <= columns_ * 2 / 3) all(core);
      each(differing);
      if (launch_width_ <= columns_ / 2) all(launch);
      if (!all(core)) each(core);
    }
    all(launch);
    path_ ? (before_core(), behind_core()) : (behind_core(), before_core());
    if (std::none_of(kept_.begin(), kept_.end(), [](bool kept) { return kept; })) return {};
    std::string shown;
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      if (kept_[i]) shown += words_[i];
      if (!kept_[i] && begins_gap(i)) shown += kEllipsis;
    }
    return shown;
  }

  [[nodiscard]] const std::vector<std::string_view>& words() const { return words_; }

 private:
  [[nodiscard]] bool is_word(std::size_t i) const {
    return is_of_word(words_[i].front()) || words_[i].size() > 2;
  }
  // Whether an ellipsis stands for the words from here on.
  [[nodiscard]] bool begins_gap(std::size_t i) const {
    return i >= silent_ ? i == silent_ || kept_[i - 1] : false;
  }
  [[nodiscard]] std::size_t width() const {
    std::size_t sum = 0;
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      if (kept_[i]) sum += widths_[i];
      if (!kept_[i] && begins_gap(i)) ++sum;
    }
    return sum;
  }
  bool keep(std::size_t i) {
    if (kept_[i]) return true;
    kept_[i] = true;
    if (width() <= columns_) return true;
    kept_[i] = false;
    return false;
  }
  void behind_core() {
    std::size_t i = kept_.size();
    while (i > 0 && !in_core_[i - 1]) --i;
    while (i < kept_.size() && !in_launch_[i] && keep(i)) ++i;
    // A space at the end says nothing, nor does a separator at the beginning.
    if (i > 0 && i < kept_.size() && words_[i - 1] == " ") kept_[i - 1] = false;
  }
  void before_core() {
    std::size_t i = 0;
    while (i < kept_.size() && !in_core_[i]) ++i;
    while (i > silent_ && keep(i - 1)) --i;
    for (; i > silent_ && i < kept_.size() && !in_core_[i] && !is_word(i) && words_[i] != "/"; ++i)
      kept_[i] = false;
  }

  std::vector<std::string_view> words_;
  std::vector<std::size_t> widths_;
  std::vector<bool> in_core_, in_launch_, kept_;
  std::size_t columns_ = 0, silent_ = 0, core_width_ = 0, launch_width_ = 0;
  bool path_ = false;
};

bool begins_within(std::string_view text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
}

// Paths that begin and end alike.
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

  // "…/layers.7/mlp…/mm": from the part of the path on in which it differs; empty if that is too
  // long.
  [[nodiscard]] std::string of(const std::string& name, std::size_t columns) const {
    if (columns < 2) return {};
    const std::size_t room = columns - 1;
    const std::size_t slash = before_ == 0 ? name.npos : name.rfind('/', before_ - 1);
    std::size_t begin = slash == name.npos ? 0 : slash;
    if (display_width(name.substr(begin, before_ - begin)) > room / 2) begin = before_;
    const std::size_t end = std::min(name.find('/', name.size() - behind_), name.size());
    const std::string part = name.substr(begin, end - begin);
    const std::size_t used = display_width(part);
    std::string rest = name.substr(end);
    if (used > room) return {};
    if (used + display_width(rest) <= room) return kEllipsis + part + rest;
    if (used + 1 + kLeastEnd > room) return kEllipsis + part;
    while (used + 1 + display_width(rest) > room || begins_within(rest, 0)) rest.erase(0, 1);
    return kEllipsis + part + kEllipsis + rest;
  }

  // From where it differs on, whatever that is.
  [[nodiscard]] std::string cut(const std::string& name, std::size_t columns) const {
    if (columns < 2) return columns == 0 ? "" : kEllipsis;
    return kEllipsis + shorten_end(name.substr(before_), columns - 1);
  }

 private:
  std::size_t before_ = 0, behind_ = 0;  // bytes
};

// Of each name the words that not all of them have; where there are none, those between their
// common beginning and end.
class Differences {
 public:
  explicit Differences(const std::set<std::string>& names) {
    for (const std::string& name : names) {
      const auto words = words_of(name);
      for (const auto word : std::set<std::string_view>(words.begin(), words.end()))
        ++names_with_[word];
      if (first_.empty()) {
        first_ = words;
        before_ = behind_ = words.size();
      }
      const auto most = static_cast<std::ptrdiff_t>(std::min(words.size(), first_.size()));
      const auto same = [most](auto a, auto b) {
        return static_cast<std::size_t>(std::mismatch(a, a + most, b).first - a);
      };
      before_ = std::min(before_, same(first_.begin(), words.begin()));
      behind_ = std::min(behind_, same(first_.rbegin(), words.rbegin()));
    }
    count_ = names.size();
  }
  [[nodiscard]] std::vector<bool> of(const std::string& name) const {
    const auto words = words_of(name);
    std::vector<bool> differs(words.size());
    for (std::size_t i = 0; i < words.size(); ++i) differs[i] = names_with_.at(words[i]) < count_;
    if (std::find(differs.begin(), differs.end(), true) == differs.end()) {
      for (std::size_t i = before_; i + behind_ < words.size(); ++i) differs[i] = true;
    }
    return differs;
  }

 private:
  std::map<std::string_view, std::size_t> names_with_;
  std::vector<std::string_view> first_;
  std::size_t before_ = 0, behind_ = 0, count_ = 0;
};

std::string shortened(const std::string& name, const std::vector<bool>& differs,
                      std::size_t columns) {
  if (display_width(name) <= columns) return name;
  if (std::string text = Shortened(name, columns).text(differs); !text.empty()) return text;
  return shorten_middle(name, columns);  // one word that is too long
}

// How many bytes the names that are too long begin with in common; 0 where there is only one.
std::size_t common_beginning_of(const std::vector<std::string>& names, std::size_t columns) {
  const std::string* first = nullptr;
  std::size_t same = 0;
  bool several = false;
  for (const std::string& name : names) {
    if (display_width(name) <= columns) continue;
    if (first == nullptr) {
      first = &name;
      same = name.size();
      continue;
    }
    several = several || name != *first;
    const auto most = static_cast<std::ptrdiff_t>(std::min({name.size(), first->size(), same}));
    same = static_cast<std::size_t>(
        std::mismatch(first->begin(), first->begin() + most, name.begin()).first - first->begin());
  }
  return several ? same : 0;
}

std::string without_differences(const std::string& name, std::size_t columns, std::size_t common) {
  if (display_width(name) <= columns) return name;
  const Core core = core_of(name);
  std::string middle = shorten_middle(name, columns);
  // A path whose last part fits keeps its beginning, too, unless all have the same.
  if (core.path && core.launch == name.size() && middle.ends_with(name.substr(core.begin)) &&
      middle.find(kEllipsis) > common)
    return middle;
  return shortened(name, std::vector<bool>(words_of(name).size()), columns);
}

}  // namespace

std::vector<std::string> shortened_names(const std::vector<std::string>& names,
                                         std::size_t columns) {
  constexpr int kTries = 3;  // fewer names look alike each time
  std::vector<std::string> shown;
  shown.reserve(names.size());
  const std::size_t common = common_beginning_of(names, columns);
  for (const std::string& name : names) shown.push_back(without_differences(name, columns, common));
  for (int tried = 0; tried <= kTries; ++tried) {
    std::map<std::string, std::set<std::string>> looks;
    for (std::size_t row = 0; row < names.size(); ++row) looks[shown[row]].insert(names[row]);
    std::map<std::string, std::pair<Alike, Differences>> different;
    for (const auto& [look, alike] : looks)
      if (alike.size() > 1) different.emplace(look, std::pair(Alike(alike), Differences(alike)));
    if (different.empty()) break;
    for (std::size_t row = 0; row < names.size(); ++row) {
      const auto found = different.find(shown[row]);
      if (found == different.end()) continue;
      const auto& [alike, differences] = found->second;
      const std::string& name = names[row];
      std::string text;
      if (tried == kTries) {
        text = alike.cut(name, columns);
      } else if (tried == kTries - 1 && core_of(name).path) {
        text = alike.of(name, columns);
      }
      shown[row] = text.empty() ? shortened(name, differences.of(name), columns) : std::move(text);
    }
  }
  return shown;
}

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
#include "collector/options/output_name.h"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string_view>

#include "analysis/base/text_file.h"
#include "collector/options/ranks.h"

namespace gable {
namespace {

std::string host_name() {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0 || host[0] == 0) return "localhost";
  return host.data();
}

// The variable of a %q{NAME} that `text` begins with; empty where it does not.
std::string_view variable_at(std::string_view text) {
  const auto close = text.find('}');
  return text.starts_with("%q{") && close != std::string_view::npos ? text.substr(3, close - 3)
                                                                    : std::string_view();
}

}  // namespace

std::string expand_output_name(const std::string& pattern, std::string* unset) {
  std::string name;
  const auto known_or_pid = [&](const std::string& what, bool known, const std::string& value) {
    name += known ? value : std::to_string(getpid());
    if (!known && unset != nullptr) *unset += (unset->empty() ? "" : ", ") + what;
  };
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const std::string_view rest = std::string_view(pattern).substr(i);
    if (rest.starts_with("%p")) {
      name += std::to_string(getpid());
      i += 1;
    } else if (rest.starts_with("%h")) {
      name += host_name();
      i += 1;
    } else if (rest.starts_with("%r")) {
      const auto rank = told_rank();
      known_or_pid("%r", rank.has_value(), std::to_string(rank.value_or(0)));
      i += 1;
    } else if (rest.starts_with("%q{") && rest.find('}') != std::string_view::npos) {
      const std::string variable(variable_at(rest));
      const char* value = std::getenv(variable.c_str());
      known_or_pid(variable, value != nullptr, value != nullptr ? value : "");
      i += rest.find('}');
    } else {
      name += pattern[i];
    }
  }
  return name;
}

std::string with_suffix(const std::string& path, const std::string& suffix) {
  const auto dot = path.rfind('.');
  const auto slash = path.rfind('/');
  const bool named = dot != std::string::npos && (slash == std::string::npos || dot > slash);
  return named ? path.substr(0, dot) + "-" + suffix + path.substr(dot) : path + "-" + suffix;
}

bool names_rank(const std::string& pattern) {
  for (std::size_t at = pattern.find('%'); at != std::string::npos;
       at = pattern.find('%', at + 1)) {
    const std::string_view rest = std::string_view(pattern).substr(at);
    if (rest.starts_with("%r") || is_rank_variable(variable_at(rest))) return true;
  }
  return false;
}

std::string with_rank(const std::string& pattern) {
  return names_rank(pattern) ? pattern : with_suffix(pattern, "rank%r");
}

std::string own_output_name(const std::string& pattern, std::string* unset) {
  auto name = expand_output_name(pattern, unset);
  const auto place = told_place();
  if (!place || names_rank(pattern) || is_written_in_place(name)) return name;
  return with_suffix(name, "rank" + std::to_string(place->rank));
}

}  // namespace gable

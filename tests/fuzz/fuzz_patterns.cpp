// SPDX-License-Identifier: Apache-2.0
// Patterns of options, and the names that they look at: a pattern, a line break, a name.
#include <string>

#include "analysis/base/pattern.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gable;
  using fuzz::expect;
  const std::string_view text = fuzz::text_of(data, size);
  const std::string_view pattern = text.substr(0, text.find('\n'));
  std::string_view name = text.substr(std::min(text.size(), pattern.size() + 1));
  const bool regex = pattern.substr(0, 6) == "regex:";
  // A regular expression may take exponential time, and as much of the stack as it is deep.
  if (regex && pattern.size() > 100) return 0;
  if (regex) name = name.substr(0, 8);
  const Pattern::Parsed parsed = Pattern::parse(pattern);
  expect(regex || parsed.error.empty(), "every glob is one");
  expect(parsed.error.empty() || parsed.error.ends_with('.'), "an error is a sentence");
  const bool matches = parsed.pattern.matches(name);
  expect(parsed.error.empty() || !matches, "what is no pattern matches nothing");
  if (!regex) {
    // Behind a backslash a star is none.
    expect(pattern.ends_with('\\') || !matches ||
               Pattern::parse(std::string(pattern) + "*").pattern.matches(name),
           "with a star behind, a glob matches no less");
    std::string exact;
    for (const char c : name) exact += std::string("\\") + c;
    expect(Pattern::parse(exact).pattern.matches(name), "escaped, a name matches itself");
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// GABLE_OPTIONS: words as in a shell, every option with its values, lists of metrics and phases.
#include <vector>

#include "collector/options/output_name.h"
#include "collector/options/settings.h"
#include "collector/options/shell_words.h"
#include "tests/fuzz/fuzz.h"

namespace {

// Regular expressions that take long are their writer's own, and no error of ours.
bool is_short(const std::string& text) { return text.size() <= 400; }

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gable;
  using fuzz::expect;
  const std::string text(fuzz::text_of(data, size));
  std::vector<std::string> words;
  if (shell_words(text, words)) {
    std::string line;
    for (const std::string& word : words) line += shell_quoted(word) + " ";
    std::vector<std::string> again;
    expect(shell_words(line, again) && again == words, "quoted words stay what they are");
  }
  if (!is_short(text)) return 0;
  const ParsedOptions parsed = parse_options(text);
  if (!parsed.error.empty()) return 0;
  const std::string options = to_options(parsed.settings);
  const ParsedOptions again = parse_options(options);
  expect(again.error.empty(), "options that were written can be read");
  expect(to_options(again.settings) == options, "reading and writing change nothing");
  (void)own_output_name(parsed.settings.output);
  return 0;
}

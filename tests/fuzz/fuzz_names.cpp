// SPDX-License-Identifier: Apache-2.0
// What comes from programs and drivers: names of ranges and kernels, command lines, mapped files.
#include <string>
#include <vector>

#include "analysis/base/display.h"
#include "analysis/base/text.h"
#include "analysis/masking/mask.h"
#include "collector/cupti/cubin_lines.h"
#include "collector/cupti/cupti_search.h"
#include "collector/options/range_name.h"
#include "collector/runtime/wide_text.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gable;
  using fuzz::expect;
  const std::string text(fuzz::text_of(data, size));

  for (const std::size_t most : {std::size_t{8}, kMaxNameBytes}) {
    const std::string clean = clean_name(text, most);
    expect(is_clean_name(clean, most), "a clean name is clean");
    expect(!is_clean_name(text, most) || clean == text, "a clean name stays what it is");
    const std::string line = one_line(clean);
    for (const std::size_t columns : {1, 7, 40}) {
      expect(display_width(shorten_end(line, columns)) <= columns, "a short text is short");
      expect(display_width(shorten_middle(line, columns)) <= columns, "a short text is short");
    }
  }
  (void)demangled("_Z" + text);

  static const RangeNaming naming({"@[0-9]+"}, "^step");
  std::string buffer, twice;
  const std::string cut(RangeNaming::cut_sequence_numbers(text, buffer));
  expect(cut.size() <= text.size(), "cutting makes nothing longer");
  (void)naming.name(cut.substr(0, RangeNaming::kMaxNameBytes));

  std::vector<std::string> words;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\0', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  expect(mask_command(words).size() == words.size(), "masking keeps the arguments apart");

  std::wstring wide;
  for (std::size_t i = 0; i + sizeof(wchar_t) <= text.size(); i += sizeof(wchar_t)) {
    wchar_t c{};
    text.copy(reinterpret_cast<char*>(&c), sizeof c, i);
    wide += c;
  }
  expect(is_clean_name(utf8_of(wide.c_str(), 64), 64), "wide text becomes UTF-8");

  for (const KernelLine& line : kernel_lines({data, size}))
    expect(!shown_line(line, "/home").empty(), "a line has a place");

  CuptiSearch search;
  search.mapped = mapped_files(text);
  expect(!cupti_candidates(search).empty(), "there is always a name to try");
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// report.json from anywhere: read, written again, read again, and shown.
#include "analysis/base/display.h"
#include "analysis/base/text.h"
#include "analysis/report/report_json.h"
#include "analysis/report/report_json_read.h"
#include "tests/fuzz/fuzz.h"
#include "tools/show/table.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gable;
  using fuzz::expect;
  const ParsedReport read = from_json(fuzz::text_of(data, size));
  expect(read.report.has_value() == read.error.empty(), "there is a report or a sentence");
  if (!read.report) {
    expect(read.error.ends_with('.'), "an error is a sentence");
    return 0;
  }
  const std::string written = to_json(*read.report);
  const ParsedReport again = from_json(written);
  expect(again.report.has_value(), "what was written can be read");
  expect(to_json(*again.report) == written, "reading and writing change nothing");

  TableOptions options;
  const std::string table = render_table({*read.report}, options);
  for (std::string_view rest = table; !rest.empty();) {
    const auto line = rest.substr(0, rest.find('\n'));
    expect(display_width(line) <= options.columns, "no line is wider than the terminal");
    rest.remove_prefix(line.size() + (line.size() < rest.size() ? 1 : 0));
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Files of measured roofs, which the injected library reads in other people's programs: read,
// written again, read again, and made into ceilings.
#include "analysis/roofline/measured_roofs.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gable;
  using fuzz::expect;
  const ParsedRoofs read = roofs_from_json(fuzz::text_of(data, size));
  expect(read.roofs.has_value() == read.error.empty(), "there are roofs or a reason");
  if (!read.roofs) return 0;
  const std::string written = to_json(*read.roofs);
  const ParsedRoofs again = roofs_from_json(written);
  expect(again.roofs.has_value(), "what was written can be read");
  expect(to_json(*again.roofs) == written, "reading and writing change nothing");
  for (const Ceiling& each : ceilings_of(*read.roofs, 0)) {
    expect(each.value > 0, "a ceiling is a rate");
    expect(each.source.starts_with("measured: "), "its source says that it was measured");
  }
  return 0;
}

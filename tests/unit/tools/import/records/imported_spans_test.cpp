// SPDX-License-Identifier: Apache-2.0
// Spans are summed by step and layer, however many there are and in whatever order they come.
#include "tools/import/records/imported_spans.h"

#include <gtest/gtest.h>

#include <map>

namespace gable {
namespace {

TEST(ImportedSpansOf, ManySteps) {
  constexpr std::uint32_t kSteps = 30, kLayers = 3000;  // more than are kept in memory
  ImportedSpans spans;
  for (std::uint32_t round = 0; round < 3; ++round)
    for (std::uint32_t step = kSteps; step-- > 0;)
      for (std::uint32_t layer = 0; layer < kLayers; ++layer)
        spans.add({step, layer, 1, step + layer, round});
  std::uint64_t count = 0;
  for (auto span = spans.first(); span; span = spans.next(), ++count) {
    ASSERT_EQ(span->step, count / kLayers);
    ASSERT_EQ(span->layer, count % kLayers);
    ASSERT_EQ(span->calls, 3u);
    ASSERT_EQ(span->cpu_ns, 3 * (span->step + span->layer));
    ASSERT_EQ(span->wait_ns, 3u);
  }
  EXPECT_EQ(count, kSteps * kLayers);
}

TEST(ImportedSpansOf, None) {
  ImportedSpans spans;
  EXPECT_FALSE(spans.first());
}

}  // namespace
}  // namespace gable

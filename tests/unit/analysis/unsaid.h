// SPDX-License-Identifier: Apache-2.0
// What a struct holds where nobody said anything: none of its numbers may look like one that was
// measured.
#pragma once

#include <gtest/gtest.h>

#include <vector>

namespace gable::tests {

template <typename... Numbers>
void expect_zeros(const Numbers&... numbers) {
  EXPECT_EQ((std::vector<double>{static_cast<double>(numbers)...}),
            std::vector<double>(sizeof...(numbers), 0.0));
}

}  // namespace gable::tests

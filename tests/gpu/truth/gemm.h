// SPDX-License-Identifier: Apache-2.0
// cuBLAS's matrix products, whose work is 2 m n k. cuBLAS is opened where it is.
#pragma once

namespace gable::truth {

// Runs them in steps, each in a range of its own, and prints what the report must say of the
// layers; 77 after the reason where there is no cuBLAS.
int run_gemms(int steps);

}  // namespace gable::truth

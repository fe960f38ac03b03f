// SPDX-License-Identifier: Apache-2.0
// Factors between units. Times are in ns unless a name says otherwise.
#pragma once

namespace gable {

inline constexpr double kMega = 1e6, kGiga = 1e9, kTera = 1e12;
inline constexpr double kNsPerSecond = 1e9;

}  // namespace gable

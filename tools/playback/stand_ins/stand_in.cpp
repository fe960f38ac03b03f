// SPDX-License-Identifier: Apache-2.0
// A library that is only looked for.
extern "C" int gable_playback_stand_in() { return 1; }

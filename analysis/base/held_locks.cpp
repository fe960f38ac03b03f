// SPDX-License-Identifier: Apache-2.0
#include "analysis/base/held_locks.h"

namespace gable {

constinit thread_local HeldLocks t_held_locks;

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
#include "collector/windows/record_clock.h"

#include "collector/cupti/helpers.h"

namespace gable {

std::uint64_t RecordClock::ask() {
  const auto answer = ask_patiently<HostClock::Answer>(
      api_, &Helpers::calls, [call = api_.cuptiGetTimestamp](HostClock::Answer& asked) {
        asked.before = system_ns();
        const auto code = called("cuptiGetTimestamp", call, &asked.cupti);
        asked.after = system_ns();
        return code;
      });
  if (!answer) return 0;
  clock_.take(*answer);
  return answer->cupti;
}

}  // namespace gable

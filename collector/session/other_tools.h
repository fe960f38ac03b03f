// SPDX-License-Identifier: Apache-2.0
// Other CUPTI tools in the program, such as torch.profiler: only one may subscribe at a time.
#pragma once

namespace gable {

// Has the calls of cuptiSubscribe and cuptiSubscribe_v2 that loaded objects import go through us,
// so that we can leave before another tool subscribes. Looks at objects that came since the last
// call only. Objects that ask dlsym for the call are not seen. Cheap when nothing was loaded. May
// wait for the loader's lock where a tool was: on no thread that launches kernels.
void watch_for_other_tools();

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// XPlane files (.xplane.pb) of JAX's and TensorFlow's profilers, from which these make their
// traces: all events, with the GPU's attributes, and not cut at a million.
#pragma once

#include <functional>
#include <memory>

#include "tools/import/records/imported.h"
#include "tools/streams/byte_source.h"

namespace gable {

// The file is read twice: `open` gives it from its beginning. Throws WrongUse.
void read_xplane_file(const std::function<std::unique_ptr<ByteSource>()>& open, Imported& imported);

}  // namespace gable

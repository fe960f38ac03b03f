// SPDX-License-Identifier: Apache-2.0
// CUPTI's parameter structures start with their size and are zero otherwise.
#pragma once

#define GABLE_PARAMS(type, name) \
  type##_Params name{};          \
  name.structSize = type##_Params_STRUCT_SIZE

// SPDX-License-Identifier: Apache-2.0
#include "collector/windows/border.h"

namespace gable {
namespace {

const char* name_of(StepPoint point) {
  switch (point) {
    case StepPoint::forward:
      return "forward";
    case StepPoint::optimizer:
      return "optimizer";
    case StepPoint::call:
      break;
  }
  return "call";
}

}  // namespace

const char* name_of(Border border, StepPoint point) {
  switch (border) {
    case Border::launches:
      return "launches";
    case Border::period:
      return "period";
    case Border::profiler:
      return "profiler";
    case Border::recurring:
    case Border::range:
      return "range";
    case Border::point:
      break;
  }
  return name_of(point);
}

}  // namespace gable

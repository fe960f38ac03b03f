// SPDX-License-Identifier: Apache-2.0
#include "analysis/events/kernel_kind.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace gable {
namespace {

struct PartOfName {
  const char* part;  // in lower case
  KernelKind kind;
};

// The first that a name holds decides.
constexpr std::array<PartOfName, 17> kWords = {{
    {"nchwtonhwc", KernelKind::layout},
    {"nhwctonchw", KernelKind::layout},
    {"nchw2nhwc", KernelKind::layout},
    {"nhwc2nchw", KernelKind::layout},
    {"transpose", KernelKind::layout},
    {"permute", KernelKind::layout},
    {"converttensor", KernelKind::cast},
    {"float16_copy_kernel", KernelKind::cast},  // bfloat16 too
    {"float8_copy_kernel", KernelKind::cast},
    {"loadwithcast", KernelKind::cast},
    {"constant_pad", KernelKind::padding},
    {"reflection_pad", KernelKind::padding},
    {"replication_pad", KernelKind::padding},
    {"padtensor", KernelKind::padding},
    {"direct_copy_kernel", KernelKind::copy},
    {"catarraybatchedcopy", KernelKind::copy},
    {"copy_device_to_device", KernelKind::copy},
}};

}  // namespace

KernelKind kind_of_kernel(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  // A transposed convolution or product computes.
  const bool computes = lower.find("gemm") != std::string::npos ||
                        lower.find("conv_transpose") != std::string::npos ||
                        lower.find("convolution") != std::string::npos;
  if (computes) return KernelKind::other;
  // A copy that casts on the way is a cast.
  for (const PartOfName& word : kWords) {
    if (lower.find(word.part) != std::string::npos) return word.kind;
  }
  return KernelKind::other;
}

std::string_view flag_of(KernelKind kind) {
  switch (kind) {
    case KernelKind::layout:
      return "layout_conversion";
    case KernelKind::cast:
      return "cast";
    case KernelKind::padding:
      return "padding";
    case KernelKind::copy:
      return "copy";
    case KernelKind::other:
      break;
  }
  return {};
}

std::string_view words_for(KernelKind kind) {
  switch (kind) {
    case KernelKind::layout:
      return "layout conversions";
    case KernelKind::cast:
      return "casts";
    case KernelKind::padding:
      return "padding";
    case KernelKind::copy:
      return "copies by kernels";
    case KernelKind::other:
      break;
  }
  return {};
}

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// Counter images that gable profile --record kept, evaluated again by a host API, without a GPU:
//   gable_evaluate_images [--played] LIBCUPTI FILE…
// --played: the library is the playback GPU's, whose images are no other's. The real one dies of
// them (segmentation fault), so it never gets one.
// 0: every value is what CUPTI gave when the image was taken; 1: some are not; 2: a file or a
// library is wrong.
#include <cmath>
#include <cstdio>
#include <string>

#include "collector/counters/image_values.h"
#include "collector/counters/kept_images.h"
#include "collector/cupti/cupti_api.h"
#include "collector/cupti/nvperf.h"
#include "collector/metrics/host_object.h"

namespace {

struct Totals {
  std::size_t ranges = 0, values = 0, different = 0;
};

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// Empty, or what failed.
std::string evaluate(const gable::CuptiApi& api, const gable::CounterImage& image, Totals& totals) {
  gable::HostObject host(api, image.chip);
  if (auto failure = host.open(); failure.failed()) return failure.sentence;
  if (auto failure = host.add(image.metrics); failure.failed()) return failure.sentence;
  std::size_t ranges = 0;
  if (auto failure = gable::count_ranges(api, image.counters, ranges); failure.failed())
    return failure.sentence;
  if (ranges != image.ranges.size()) {
    return "the image has " + std::to_string(ranges) + " ranges, " +
           std::to_string(image.ranges.size()) + " were told.";
  }
  std::vector<const char*> names;
  for (const auto& metric : image.metrics) names.push_back(metric.c_str());
  for (std::size_t i = 0; i < ranges; ++i) {
    const auto& told = image.ranges[i];
    std::string name;
    std::vector<double> values;
    if (auto failure = gable::name_of_range(api, image.counters, i, name); failure.failed())
      return failure.sentence;
    if (auto failure = gable::values_of_range(api, host, image.counters, i, names, values);
        failure.failed())
      return failure.sentence;
    ++totals.ranges;
    for (std::size_t m = 0; m < values.size(); ++m) {
      ++totals.values;
      if (name == told.name && same(values[m], told.values[m])) continue;
      ++totals.different;
      std::printf("%s range %s: %s is %.17g, was %.17g\n", image.phase_name.c_str(), name.c_str(),
                  names[m], values[m], told.values[m]);
    }
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const bool played = argc > 1 && std::string(argv[1]) == "--played";
  const int first = played ? 2 : 1;
  if (argc < first + 2) {
    std::fprintf(stderr, "gable_evaluate_images: write [--played] LIBCUPTI FILE…\n");
    return 2;
  }
  const gable::CuptiApi api = gable::load_cupti(argv[first]);
  if (!api.can_profile) {
    std::fprintf(stderr, "gable_evaluate_images: %s\n", api.why_not.c_str());
    return 2;
  }
  gable::open_nvperf(api.path);
  Totals totals;
  for (int i = first + 1; i < argc; ++i) {
    const auto read = gable::read_images(argv[i]);
    if (!read.error.empty()) {
      std::fprintf(stderr, "gable_evaluate_images: %s\n", read.error.c_str());
      return 2;
    }
    if ((read.source == "playback") != played) {
      std::fprintf(stderr,
                   "gable_evaluate_images: %s: images of source %s are none of this library's.\n",
                   argv[i], read.source.c_str());
      return 2;
    }
    for (const auto& image : read.images) {
      if (const auto failed = evaluate(api, image, totals); !failed.empty()) {
        std::fprintf(stderr, "gable_evaluate_images: %s: %s: %s\n", argv[i],
                     image.phase_name.c_str(), failed.c_str());
        return 2;
      }
    }
    std::printf("%s (%s): %zu images\n", argv[i], read.source.c_str(), read.images.size());
  }
  std::printf("%zu values of %zu ranges, %zu different\n", totals.values, totals.ranges,
              totals.different);
  return totals.different == 0 ? 0 : 1;
}

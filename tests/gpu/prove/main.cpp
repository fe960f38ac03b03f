// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <exception>

#include "tests/gpu/prove/parts.h"

namespace {

struct Part {
  const char* name;
  int (*run)(const gable::prove::Arguments&);
};

constexpr Part kParts[] = {
    {"about", gable::prove::about},       {"tag", gable::prove::tag},
    {"skip", gable::prove::skip},         {"end", gable::prove::end},
    {"finished", gable::prove::finished}, {"check", gable::prove::check},
    {"table", gable::prove::table},       {"facts-page", gable::prove::facts_page_part},
    {"truth", gable::prove::truth},       {"truth-page", gable::prove::truth_page_part},
};

}  // namespace

int main(int argc, char** argv) {
  const std::string wanted = argc > 1 ? argv[1] : "";
  try {
    for (const Part& part : kParts) {
      if (wanted == part.name) return part.run({argv + 2, argv + argc});
    }
    std::fprintf(stderr, "gable_prove: there is no part '%s'; scripts/gpu/prove.sh calls this\n",
                 wanted.c_str());
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "gable_prove: %s\n", problem.what());
  }
  return 2;
}

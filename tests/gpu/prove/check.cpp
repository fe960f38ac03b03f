// SPDX-License-Identifier: Apache-2.0
// Whether a rehearsal filled every field.
#include <cstdio>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "tests/gpu/prove/lines.h"
#include "tests/gpu/prove/parts.h"

namespace gable::prove {
namespace {

struct Allowed {
  std::string experiment, field, why;
};

std::vector<Allowed> read_allowed(const std::string& path) {
  std::vector<Allowed> list;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream parts(line);
    Allowed one;
    if (std::getline(parts, one.experiment, '\t') && std::getline(parts, one.field, '\t') &&
        std::getline(parts, one.why) && !one.why.empty())
      list.push_back(std::move(one));
  }
  return list;
}

bool may_be_empty(const std::vector<Allowed>& allowed, const std::string& experiment,
                  const std::string& field) {
  for (const Allowed& one : allowed) {
    if ((one.experiment == "*" || one.experiment == experiment) &&
        (one.field == field || (one.field == "*" && field != "skip")))
      return true;
  }
  return false;
}

bool is_empty(const Json& value) {
  return value.is_null() || ((value.is_string() || value.is_structured()) && value.empty());
}

// Calls visit(name) for every empty value: "a", or "a.b" within an object or a list.
template <typename Visit>
void each_empty(const Json& value, const std::string& name, Visit visit) {
  if (is_empty(value)) {
    visit(name);
  } else if (value.is_structured()) {
    const std::string before = name.empty() ? "" : name + ".";
    for (const auto& [key, item] : value.items()) each_empty(item, before + key, visit);
  }
}

bool has_reason(const Json& line, const std::string& field) {
  const auto unknown = line.find("unknown");
  if (unknown == line.end() || !unknown->is_object()) return false;
  const auto found = unknown->find(field);
  return found != unknown->end() && found->is_string() && !found->empty() &&
         !found->get<std::string>().empty();
}

void look_at(const Experiment& one, const std::vector<Allowed>& allowed,
             std::vector<std::string>& problems) {
  const std::string name = one.stage + "/" + one.name;
  if (!one.ended()) {
    problems.push_back(name + " did not end.");
    return;
  }
  const int code = one.exit_code();
  if (!one.skipped.empty() && (code == 0 || code == kExitSkipped)) {
    if (!may_be_empty(allowed, one.name, "skip"))
      problems.push_back(name + " was skipped (" + one.skipped + "), which it may not be.");
    return;
  }
  if (code != 0) {
    problems.push_back(name + " ended with " + std::to_string(code) + ".");
    return;
  }
  if (one.results.empty()) problems.push_back(name + " gave no result.");
  for (const Json& line : one.results) {
    const std::string what = line.value("what", "");
    const auto fields = line.find("fields");
    if (fields == line.end() || fields->empty()) {
      problems.push_back(name + ": '" + what + "' has no field.");
      continue;
    }
    each_empty(*fields, "", [&](const std::string& field) {
      if (!has_reason(line, field) && !may_be_empty(allowed, one.name, field))
        problems.push_back(name + ": the field '" + field + "' of '" + what +
                           "' is empty, and nothing says why.");
    });
  }
}

}  // namespace

std::vector<std::string> problems_of(const std::string& allowed_path,
                                     const std::vector<std::string>& results) {
  const std::vector<Allowed> allowed = read_allowed(allowed_path);
  std::vector<std::string> problems;
  for (const std::string& path : results) {
    const std::vector<Experiment> experiments = read_results(path);
    if (experiments.empty()) problems.push_back(path + " has no result.");
    for (const Experiment& one : experiments) look_at(one, allowed, problems);
  }
  return problems;
}

int check(const Arguments& arguments) {
  if (arguments.size() < 2) throw std::invalid_argument("write check ALLOWED RESULTS...");
  const auto problems = problems_of(arguments[0], {arguments.begin() + 1, arguments.end()});
  for (const std::string& problem : problems) std::fprintf(stderr, "prove: %s\n", problem.c_str());
  return problems.empty() ? 0 : 1;
}

}  // namespace gable::prove

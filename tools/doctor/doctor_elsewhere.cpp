// SPDX-License-Identifier: Apache-2.0
#include "tools/doctor/doctor_elsewhere.h"

#include <signal.h>

#include <sstream>
#include <string_view>

#include "tools/base/wrong_use.h"

namespace gable {
namespace {

constexpr unsigned kPatienceSeconds = 120;  // a machine with many GPUs takes a while
constexpr std::size_t kMostRefused = 16;
constexpr int kExitLimited = 1;

// Lines that a child tells: a CUPTI that it is about to ask, a finding of a part or of a phase,
// whether there is a GPU, why CUPTI does not serve, that a plan is under way. Fields are parted by
// a tab; no sentence has one.
constexpr std::string_view kAsking = "asking", kPart = "part", kPhase = "phase", kGpu = "gpu",
                           kWhy = "why", kUnderWay = "under way";

void tell_line(const Tell& tell, std::string_view kind, const std::string& text) {
  tell(std::string(kind) + "\t" + text + "\n");
}

void tell_finding(const Tell& tell, std::string_view kind, const Finding& finding) {
  tell_line(
      tell, kind,
      finding.part + "\t" + std::to_string(static_cast<int>(finding.state)) + "\t" + finding.text);
}

Finding read_finding(const std::string& text) {
  Finding finding;
  std::istringstream fields(text);
  std::string state;
  std::getline(fields, finding.part, '\t');
  std::getline(fields, state, '\t');
  std::getline(fields, finding.text);
  finding.state = static_cast<State>(std::stoi(state));
  return finding;
}

struct Told {
  std::string asked, why;  // the CUPTI asked last; why it does not serve
  Examination found;
};

Told read_told(const std::string& text) {
  Told told;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line) && !lines.eof();) {  // whole lines only
    const auto tab = line.find('\t');
    const auto kind = std::string_view(line).substr(0, tab);
    const auto rest = line.substr(tab + 1);
    if (kind == kAsking) told.asked = rest;
    if (kind == kWhy) told.why = rest;
    if (kind == kPart) told.found.parts.push_back(read_finding(rest));
    if (kind == kPhase) told.found.phases.push_back(read_finding(rest));
    if (kind == kGpu) told.found.has_gpu = true;
  }
  return told;
}

CuptiWish wish_of(const std::string& cupti, const std::vector<std::string>& refused,
                  const Tell& tell) {
  return {cupti, refused, [tell](const std::string& path) { tell_line(tell, kAsking, path); }};
}

std::string how_it_ended(const std::string& cupti, int signal) {
  return "The CUPTI " + cupti +
         (signal == SIGALRM
              ? " did not answer within " + std::to_string(kPatienceSeconds) + " s"
              : " ended the process that asked it (signal " + std::to_string(signal) + ")") +
         ", as some do that cannot reach the driver; those of CUDA 12.6 to 13.1 answer without "
         "a driver: point --cupti to one of them.";
}

std::string driver_did_not_serve(int signal) {
  return (signal == SIGALRM ? "A call of the driver did not return within " +
                                  std::to_string(kPatienceSeconds) + " s"
                            : "Asking the driver ended the process that asked it (signal " +
                                  std::to_string(signal) + ")") +
         "; does nvidia-smi work here?";
}

}  // namespace

Examination examine_elsewhere(const std::string& cupti) {
  std::vector<std::string> refused;
  std::vector<Finding> said;
  for (;;) {
    const auto end = ask_elsewhere(
        [&](const Tell& tell) {
          const Examination found = examine(wish_of(cupti, refused, tell), said);
          for (const Finding& part : found.parts) tell_finding(tell, kPart, part);
          for (const Finding& phase : found.phases) tell_finding(tell, kPhase, phase);
          if (found.has_gpu) tell_line(tell, kGpu, "");
          return 0;
        },
        kPatienceSeconds);
    Told told = read_told(end.told);
    if (end.signal == 0) return std::move(told.found);
    if (told.asked.empty() || refused.size() >= kMostRefused) {
      // Not CUPTI's doing: the driver's, or that of a library it brought along.
      told.found.parts.push_back({"driver", State::missing, driver_did_not_serve(end.signal)});
      return std::move(told.found);
    }
    refused.push_back(told.asked);
    said.push_back({"CUPTI", State::limited, how_it_ended(told.asked, end.signal)});
  }
}

int plan_elsewhere(const std::string& cupti, const PlanQuestion& plan) {
  std::vector<std::string> refused;
  std::string why;  // of the first, which the user would have expected to answer
  for (;;) {
    const auto end = ask_elsewhere(
        [&](const Tell& tell) {
          const CuptiApi api = load_cupti(wish_of(cupti, refused, tell));
          if (!api.can_profile) {
            tell_line(tell, kWhy, api.why_not);
            return kNoAnswer;
          }
          tell_line(tell, kAsking, api.path);  // of several asked it is the one chosen
          try {
            return plan(api, [&tell] { tell_line(tell, kUnderWay, ""); });
          } catch (const WrongUse& wrong) {
            say(wrong.what());
            return kExitWrongUse;
          }
        },
        kPatienceSeconds);
    if (end.signal == 0 && end.code != kNoAnswer) return end.code;
    const Told told = read_told(end.told);
    if (why.empty()) {
      why =
          end.signal != 0 ? how_it_ended(told.asked, end.signal)
          : !told.why.empty()
              ? told.why
              : "The CUPTI " + told.asked +
                    " does not list its chips here, like those from CUDA 13.3 on where there is no "
                    "driver; those of CUDA 12.6 to 13.1 do: point --cupti to one of them.";
    }
    if (!cupti.empty() || told.asked.empty() || refused.size() >= kMostRefused) break;
    refused.push_back(told.asked);
  }
  say(why);
  return kExitLimited;
}

}  // namespace gable

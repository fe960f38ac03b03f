// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/truth/ptx_work.h"

#include <cstdio>
#include <sstream>

namespace gable::truth {
namespace {

std::vector<std::string> parts_of(const std::string& opcode) {
  std::vector<std::string> parts;
  std::istringstream text(opcode);
  for (std::string part; std::getline(text, part, '.');) parts.push_back(part);
  return parts;
}

// 2 m n k of "m16n8k16".
double products(const std::vector<std::string>& parts) {
  int m = 0, n = 0, k = 0;
  for (const std::string& part : parts) {
    if (std::sscanf(part.c_str(), "m%dn%dk%d", &m, &n, &k) == 3) return 2.0 * m * n * k;
  }
  return 0;
}

// What one thread does with this instruction: a name and how much; an empty name for nothing that
// is counted.
std::pair<std::string, double> work_of(const std::string& opcode) {
  const std::vector<std::string> parts = parts_of(opcode);
  const std::string& what = parts.front();
  if (what == "mma") return {"tensor", products(parts) / 32};
  if (what == "wgmma" && parts[1] == "mma_async") return {"tensor", products(parts) / 128};
  if (what != "add" && what != "mul" && what != "fma") return {};
  const std::string& type = parts.back();
  const std::string kind = type == "f32"                         ? "f"
                           : type == "f64"                       ? "d"
                           : type == "f16x2" || type == "bf16x2" ? "h"
                                                                 : "";
  return kind.empty() ? std::pair<std::string, double>{} : std::make_pair(kind + what, 1.0);
}

double share_of(const std::vector<std::pair<std::string, double>>& shares,
                const std::string& name) {
  for (const auto& [label, share] : shares) {
    if (label == name) return share;
  }
  return 1;
}

}  // namespace

double PtxWork::of(const std::string& name, double turns) const {
  const auto part = [&](const std::map<std::string, double>& counts) {
    const auto found = counts.find(name);
    return found == counts.end() ? 0.0 : found->second;
  };
  return part(once) + turns * part(each_turn);
}

PtxWork ptx_work(const std::string& ptx,
                 const std::vector<std::pair<std::string, double>>& shares) {
  PtxWork work;
  bool within = false;
  double share = 1;
  std::istringstream lines(ptx);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    if (!(words >> word)) continue;
    if (word.back() == ':') {
      const std::string label = word.substr(0, word.size() - 1);
      if (label == "again_") within = true;
      share = share_of(shares, label);
      continue;
    }
    double threads = share;
    if (word.front() == '@') {
      threads *= share_of(shares, word.substr(word[1] == '!' ? 2 : 1));
      if (!(words >> word)) continue;
      std::string target;
      if (word == "bra" && words >> target && target == "again_;") within = false;
    }
    const auto [name, amount] = work_of(word);
    if (!name.empty()) (within ? work.each_turn : work.once)[name] += threads * amount;
  }
  return work;
}

}  // namespace gable::truth

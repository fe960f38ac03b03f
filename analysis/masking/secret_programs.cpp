// SPDX-License-Identifier: Apache-2.0
#include "analysis/masking/secret_programs.h"

#include <algorithm>
#include <array>

namespace gable {

struct SecretPrograms::Rule {
  std::string_view program, wants;  // a word that must come before; empty: none
  std::string_view option;          // empty: the word itself
  Takes takes = Takes::rest;
  std::size_t skip = 0;  // words between
};

const SecretPrograms::Rule* SecretPrograms::rule_of(std::string_view program, const Rule* after) {
  static constexpr std::array kRules{
      Rule{"sshpass", "", "-p"},
      Rule{"mysql", "", "-p"},
      Rule{"mysqldump", "", "-p"},
      Rule{"mysqladmin", "", "-p"},
      Rule{"mysqlimport", "", "-p"},
      Rule{"mariadb", "", "-p"},
      Rule{"mariadb-dump", "", "-p"},
      Rule{"mongo", "", "-p"},
      Rule{"mongosh", "", "-p"},
      Rule{"mongodump", "", "-p"},
      Rule{"mongorestore", "", "-p"},
      Rule{"cqlsh", "", "-p"},
      Rule{"redis-cli", "", "-a"},
      Rule{"ldapsearch", "", "-w"},
      Rule{"ldapmodify", "", "-w"},
      Rule{"ldapadd", "", "-w"},
      Rule{"ldapwhoami", "", "-w"},
      Rule{"sqlcmd", "", "-P"},
      Rule{"zip", "", "-P"},
      Rule{"unzip", "", "-P"},
      Rule{"7z", "", "-p"},
      Rule{"mosquitto_pub", "", "-P"},
      Rule{"mosquitto_sub", "", "-P"},
      Rule{"ssh-keygen", "", "-N"},
      Rule{"ssh-keygen", "", "-P"},
      Rule{"openssl", "", "-k"},
      Rule{"docker", "login", "-p"},
      Rule{"podman", "login", "-p"},
      Rule{"nerdctl", "login", "-p"},
      Rule{"buildah", "login", "-p"},
      Rule{"skopeo", "login", "-p"},
      Rule{"oras", "login", "-p"},
      Rule{"crane", "login", "-p"},
      Rule{"helm", "login", "-p"},
      Rule{"oc", "login", "-p"},
      Rule{"az", "login", "-p"},
      Rule{"twine", "upload", "-p"},
      Rule{"gh", "secret", "-b"},
      Rule{"doctl", "auth", "-t"},
      Rule{"smbclient", "", "-U"},
      Rule{"curl", "", "-u", Takes::login_rest},
      Rule{"curl", "", "-U", Takes::login_rest},
      Rule{"curl", "", "-E", Takes::login_rest},
      Rule{"http", "", "-a", Takes::login_rest},
      Rule{"https", "", "-a", Takes::login_rest},
      Rule{"xh", "", "-a", Takes::login_rest},
      Rule{"wandb", "login", "", Takes::word},
      Rule{"vault", "login", "", Takes::word},
      Rule{"vault", "unseal", "", Takes::word},
      Rule{"cargo", "login", "", Takes::word},
      Rule{"ngrok", "authtoken", "", Takes::word},
      Rule{"ngrok", "add-authtoken", "", Takes::word},
      Rule{"redis-cli", "AUTH", "", Takes::word},
      Rule{"redis-cli", "auth", "", Takes::word},
      Rule{"comet", "login", "", Takes::word},
      Rule{"poetry", "config", "", Takes::word, 1},
      Rule{"mc", "set", "", Takes::word, 2},
      Rule{"mc", "add", "", Takes::word, 2},
      Rule{"vault", "put", "", Takes::after_equal},
      Rule{"vault", "write", "", Takes::after_equal},
      Rule{"vault", "patch", "", Takes::after_equal},
  };
  const auto* begin = after == nullptr ? kRules.data() : after + 1;
  const auto* end = kRules.data() + kRules.size();
  const auto* found =
      std::find_if(begin, end, [&](const Rule& rule) { return rule.program == program; });
  return found == end ? nullptr : found;
}

void SecretPrograms::end_command() {
  program_ = {};
  wanted_ = {};
}

SecretPrograms::Answer SecretPrograms::see(std::string_view word, bool begins, bool is_program) {
  if (const Rule* rule = is_program ? rule_of(word, nullptr) : nullptr;
      rule != nullptr && word != program_) {
    program_ = rule->program;
    wanted_ = {};
    return {};
  }
  if (program_.empty() || !begins) return {};
  const bool option = word.size() > 1 && word[0] == '-';
  const auto* taken = [&]() -> const Rule* {
    for (const Rule* rule = rule_of(program_, nullptr); rule != nullptr;
         rule = rule_of(program_, rule)) {
      if (!rule->wants.empty() && rule->wants == word) {
        wanted_ = rule->wants;
        words_after_ = 0;
        return nullptr;
      }
    }
    if (!option) ++words_after_;
    for (const Rule* rule = rule_of(program_, nullptr); rule != nullptr;
         rule = rule_of(program_, rule)) {
      if (rule->wants != std::string_view() && rule->wants != wanted_) continue;
      if (rule->option.empty() ? !option && words_after_ > rule->skip
                               : word.substr(0, rule->option.size()) == rule->option)
        return rule;
    }
    return nullptr;
  }();
  if (taken == nullptr || word.substr(0, 2) == "--") return {};
  if (taken->option.empty()) return {taken->takes, 0};
  const bool alone = word.size() == taken->option.size();
  const bool login = taken->takes == Takes::login_rest;
  if (alone) return {login ? Takes::login_next : Takes::next, word.size()};
  return {taken->takes, taken->option.size()};
}

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
#include "analysis/masking/secret_programs.h"

#include <algorithm>
#include <array>

#include "analysis/masking/secret_names.h"

namespace gable {
namespace {

using Takes = SecretPrograms::Takes;

struct Rule {
  std::string_view programs, wants;  // words that one of must come before; empty: none
  std::string_view option;           // empty: the word itself
  Takes takes = Takes::rest;
  std::size_t skip = 0;  // words between
};

// As their manuals say.
constexpr std::array kRules{
    // Data bases.
    Rule{"mysql mysqldump mysqladmin mysqlimport mysqlsh mariadb mariadb-dump mongo mongosh "
         "mongodump mongorestore mongoexport mongoimport cqlsh beeline",
         "", "-p"},
    Rule{"sqlcmd bcp isql tsql ipmitool mosquitto_pub mosquitto_sub p4 mssql-cli knife", "", "-P"},
    Rule{"redis-cli", "", "-a"},
    Rule{"redis-cli", "AUTH auth", "", Takes::word},
    Rule{"sqlplus rman expdp impdp", "", "", Takes::word},
    Rule{"bteq fastload", "", ".logon", Takes::next},
    // Archives, documents and keys.
    Rule{"7z 7za 7zr 7zz rar unrar", "", "-p"},
    Rule{"zip unzip", "", "-P"},
    Rule{"pdftk", "", "input_pw", Takes::next},
    Rule{"pdftk", "", "user_pw", Takes::next},
    Rule{"pdftk", "", "owner_pw", Takes::next},
    Rule{"ssh-keygen", "", "-N"},
    Rule{"ssh-keygen", "", "-P"},
    Rule{"openssl", "", "-k"},
    Rule{"openssl", "", "-K"},
    Rule{"openssl", "passwd", "", Takes::word},
    Rule{"security", "unlock-keychain create-keychain import", "-p"},
    Rule{"security", "import", "-P"},
    Rule{"security", "add-generic-password add-internet-password", "-w"},
    // Accounts of a machine and of a network.
    Rule{"sshpass", "", "-p"},
    Rule{"ldapsearch ldapmodify ldapadd ldapdelete ldapwhoami ldappasswd kadmin", "", "-w"},
    Rule{"ldappasswd", "", "-s"},
    Rule{"useradd usermod", "", "-p"},
    Rule{"htpasswd htdigest", "", "", Takes::word, 1},
    Rule{"chpasswd kinit", "", "", Takes::input},  // whatever follows
    Rule{"sudo", "", "-S", Takes::input},
    Rule{"passwd", "", "--stdin", Takes::input},
    Rule{"mkpasswd wpa_passphrase", "", "", Takes::word},
    Rule{"smbclient rpcclient winexe smbget", "", "-U"},
    Rule{"net", "use", "", Takes::word, 1},
    Rule{"aws", "put-parameter", "--value", Takes::next},
    Rule{"consul", "bootstrap", "", Takes::word},
    Rule{"influx frpc", "", "-t"},
    Rule{"qpdf", "--encrypt", "", Takes::word},
    Rule{"smbclient", "", "", Takes::word, 1},
    Rule{"rdesktop racadm crackmapexec netexec ncftp ncftpput ncftpget", "", "-p"},
    Rule{"xfreerdp", "", "/p:"},
    Rule{"snmpget snmpwalk snmpset snmpbulkwalk", "", "-c"},
    Rule{"snmpget snmpwalk snmpset snmpbulkwalk", "", "-A"},
    Rule{"snmpget snmpwalk snmpset snmpbulkwalk", "", "-X"},
    Rule{"nmcli", "wifi", "password", Takes::next},
    // The web.
    Rule{"curl", "", "-u", Takes::login_rest},
    Rule{"curl", "", "-U", Takes::login_rest},
    Rule{"curl", "", "-E", Takes::login_rest},
    Rule{"curl", "", "-b"},
    Rule{"curl", "", "--cert", Takes::login_rest},
    Rule{"curl", "", "--proxy-cert", Takes::login_rest},
    Rule{"http https xh xhs", "", "-a"},
    Rule{"lftp", "", "-u"},
    Rule{"ttyd", "", "-c"},
    Rule{"ttyd", "", "--credential", Takes::next},
    Rule{"ab siege", "", "-A", Takes::login_rest},
    Rule{"gsutil", "signurl", "-p"},
    Rule{"swift", "", "-K"},
    Rule{"anaconda", "", "-t"},
    Rule{"rclone", "obscure", "", Takes::word},
    Rule{"rclone", "create update", "pass", Takes::next},
    Rule{"rclone", "create update password", "", Takes::after_equal},
    // Registries and clouds.
    Rule{"docker podman nerdctl buildah skopeo oras crane helm oc regctl", "login", "-p"},
    Rule{"az", "login create update", "-p"},
    Rule{"twine", "upload", "-p"},
    Rule{"conan", "user login", "-p"},
    Rule{"nuget", "setapikey SetApiKey", "", Takes::word},
    Rule{"dotnet", "push delete", "-k"},
    Rule{"dotnet", "user-secrets set", "", Takes::word, 1},
    Rule{"poetry composer bundle", "config", "", Takes::word, 1},
    Rule{"poetry uv hatch", "publish", "-p"},
    Rule{"cargo", "login", "", Takes::word},
    Rule{"gh", "secret", "-b"},
    Rule{"glab", "login", "-t"},
    Rule{"doctl", "auth", "-t"},
    Rule{"airflow superset", "users create-admin fab", "-p"},
    Rule{"rabbitmqctl", "add_user change_password authenticate_user", "", Takes::word, 1},
    Rule{"rabbitmqadmin", "", "-p"},
    Rule{"mc", "set add", "", Takes::word, 2},
    Rule{"kaggle", "set", "-v"},
    Rule{"kaggle llm", "set", "--value"},
    Rule{"llama-server llama-cli llama-bench", "", "-hft", Takes::next},
    Rule{"prefect", "login", "-k"},
    Rule{"ngrok", "authtoken add-authtoken", "", Takes::word},
    Rule{"cloudflared", "install", "", Takes::word},
    Rule{"wandb comet snyk replicate", "login auth", "", Takes::word},
    Rule{"pulumi", "set", "", Takes::word, 1},
    Rule{"heroku", "config:set", "", Takes::after_equal},
    Rule{"fly flyctl doppler supabase infisical", "set", "", Takes::after_equal},
    // What keeps secrets.
    Rule{"vault", "login unseal", "", Takes::word},
    Rule{"vault", "put write patch", "", Takes::after_equal},
    Rule{"bw", "unlock", "", Takes::word},
    Rule{"bw", "login", "", Takes::word, 1},
    Rule{"chamber", "write", "", Takes::word, 2},
    Rule{"ansible-vault", "encrypt_string", "", Takes::word},
    Rule{"secret-tool pass", "insert store", "", Takes::input},
};

constexpr std::size_t mark_of(std::string_view word) {
  const auto of = [](char c) { return static_cast<unsigned char>(c); };
  return (of(word.front()) * 67U + of(word.back()) * 7U + word.size()) % 1024;
}

// Which words may be programs of the table, so that most words need one look.
constexpr std::array<bool, 1024> program_marks() {
  std::array<bool, 1024> found{};
  for (const auto& rule : kRules)
    for (std::size_t begin = 0; begin < rule.programs.size();) {
      const auto end = std::min(rule.programs.find(' ', begin), rule.programs.size());
      found[mark_of(rule.programs.substr(begin, end - begin))] = true;
      begin = end + 1;
    }
  return found;
}
constexpr auto kProgramMarks = program_marks();

bool is_program(std::string_view word) {
  return !word.empty() && kProgramMarks[mark_of(word)] &&
         std::any_of(kRules.begin(), kRules.end(),
                     [&](const Rule& rule) { return lists(rule.programs, word); });
}

// These give -u another meaning.
constexpr std::string_view kNamesNobody =
    "python python3 sudo run exec docker podman date sort diff ls pip install -m";

// How many characters of the word are the rule's option; 0: it is another word.
std::size_t option_in(const Rule& rule, std::string_view word) {
  if (word.substr(0, rule.option.size()) == rule.option) {
    const bool letters = rule.option.size() == 2 || rule.option.back() == ':';
    return letters || word == rule.option ? rule.option.size() : 0;
  }
  // -sSu: several options at once, the first ones without values.
  if (rule.takes != Takes::login_rest || rule.option.size() != 2 || word[0] != '-') return 0;
  const auto at = word.find_first_not_of("sSkLfgGiIvnqN#OJR", 1);
  return at != word.npos && word[at] == rule.option[1] ? at + 1 : 0;
}

std::string_view name_of_program(std::string_view word) {
  return word.substr(word.find_last_of('/') + 1);  // all of it where there is none
}

}  // namespace

bool SecretPrograms::begins(std::string_view text) {
  return is_program(name_of_program(text.substr(0, text.find(' '))));
}

void SecretPrograms::end_command() { *this = {}; }

SecretPrograms::Answer SecretPrograms::see(std::string_view word) {
  if (word.empty()) return {};
  const auto answer = see_of_program(word);
  // login -p X, -u NAME -p X: so do programs that the table lacks. python -u and sudo -u do not.
  const bool password = user_named_ && (word == "-p" || word == "-P");
  if (word == "login" || (asks_user_ && is_password(word))) user_named_ = true;
  asks_user_ = lists("-u -U --user --username", word) && !lists(kNamesNobody, before_);
  before_ = name_of_program(word);
  if (answer.takes == Takes::nothing && password) return {Takes::password_next, word.size()};
  return answer;
}

SecretPrograms::Answer SecretPrograms::see_of_program(std::string_view word) {
  const auto name = name_of_program(word);
  if (name != program_ && wanted_.empty() && is_program(name)) {
    static_assert(kRules.size() <= 128);
    for (std::size_t i = 0; i < kRules.size(); ++i) rules_[i] = lists(kRules[i].programs, name);
    program_ = name;
    words_after_ = 0;
    const bool reads = lists("chpasswd kinit", name);
    return {reads ? Takes::input : Takes::nothing, 0};
  }
  if (program_.empty()) return {};
  const bool option = word.size() > 1 && word[0] == '-';
  for (std::size_t i = 0; i < kRules.size(); ++i) {
    if (!rules_[i] || !lists(kRules[i].wants, word)) continue;
    wanted_ = word;
    words_after_ = 0;
    return {};
  }
  if (!option) ++words_after_;
  for (std::size_t i = 0; i < kRules.size(); ++i) {
    const auto& rule = kRules[i];
    if (!rules_[i] || (!rule.wants.empty() && !lists(rule.wants, wanted_))) continue;
    if (rule.option.empty()) {
      if (!option && words_after_ > rule.skip) return {rule.takes, 0};
      continue;
    }
    const auto length = option_in(rule, word);
    if (length == 0) continue;
    const bool login = rule.takes == Takes::login_rest;
    if (rule.takes == Takes::input || length < word.size()) return {rule.takes, length};
    return {login ? Takes::login_next : Takes::next, length};
  }
  return {};
}

}  // namespace gable

# SPDX-License-Identifier: Apache-2.0
"""The table of hazards: programs that are on every machine, and tools of developers."""
from table_case import Case, WAYS, bash, shell

GIT = ("GIT_AUTHOR_DATE=2024-01-01T00:00:00Z GIT_COMMITTER_DATE=2024-01-01T00:00:00Z GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b "
       "GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b")
C_PROGRAM = r"""cat >a.c <<'X'
#include <stdio.h>
#include <stdlib.h>
int main(int n, char **w) { printf("%d\n", n); return n > 1 ? atoi(w[1]) : 0; }
X
"""

ONE_COMMAND = {
    "cat": "cat in.txt", "cat of standard input": "cat", "sort": "sort -k3n in.txt", "sort by two threads": "sort --parallel=2 -r in.txt",
    "wc": "wc in.txt", "head": "head -n 3 in.txt", "tail": "tail -c 40 in.txt", "cut": "cut -d' ' -f2,3 in.txt",
    "tr": "tr a-z A-Z", "tee": "tee a.txt b.txt", "paste": "paste in.txt tree/a/one.txt", "uniq": "uniq -c", "seq": "seq 1 3 100",
    "factor": "factor 1234567890 97", "md5sum": "md5sum in.txt", "sha256sum": "sha256sum in.txt", "base64": "base64 in.txt",
    "od": "od -c in.txt", "split": "split -l 50 in.txt part.", "csplit": "csplit -s in.txt 100 200", "cp": "cp -rp tree copy",
    "mv": "mv tree moved", "rm": "rm -r tree", "ln": "ln -s in.txt link", "mkdir": "mkdir -m 700 -p x/y/z", "touch": "touch -d @0 new",
    "chmod": "chmod 600 in.txt", "stat": "stat -c %s:%a in.txt", "du": "du -b --apparent-size tree/a/b",
    "dd": "dd if=in.txt of=out.txt bs=7 count=11 status=none", "truncate": "truncate -s 3 in.txt", "install": "install -m 640 in.txt out.txt",
    "realpath": "realpath --relative-to=. tree/../in.txt", "timeout": "timeout 20 cat", "timeout that ends it": "timeout 0.2 sleep 30",
    "nohup": "nohup cat", "nice": "nice -n 5 nice", "printf": "/usr/bin/printf %s\\n a b", "expr": "expr 6 '*' 7", "expr that fails": "expr a + 1",
    "date": "date -u -d @0 +%F", "comm": "comm -12 in.txt in.txt", "fold": "fold -w 10 in.txt", "nl": "nl in.txt",
    "tac": "tac in.txt", "tsort": "tsort", "id": "id -u", "true": "/bin/true", "false": "/bin/false", "kill": "/bin/kill -l 9",
    "numfmt": "numfmt --to=iec 1048576", "shuf": "shuf --random-source=in.txt -i 1-20", "join": "join -1 2 -2 2 tree/a/one.txt tree/a/one.txt",
    "stdbuf": "stdbuf -o0 cat", "sed": "sed -n s/line/LINE/p in.txt", "sed in place": "sed -i s/line/LINE/ in.txt", "grep": "grep -c 7 in.txt",
    "grep that finds nothing": "grep nothing in.txt", "awk": "mawk {s+=$3}END{print(s)} in.txt", "find": "find tree -type f -name *.txt -size +1",
    "find -exec": "find tree -type f -exec wc -c {} ;", "find -exec +": "find tree/a/b -type f -exec wc -l {} +", "diff": "diff in.txt tree/a/one.txt",
    "cmp": "cmp in.txt tree/a/one.txt", "tar": "tar --sort=name --mtime=@0 -cf - tree", "gzip": "gzip -n in.txt", "bzip2": "bzip2 in.txt",
    "xz": "xz -T2 in.txt", "zstd": "zstd -q -T2 in.txt", "openssl": "openssl dgst -sha512 in.txt", "bc": "bc -q /dev/null", "jq": "jq -n 1+1",
    "setsid": "setsid -w cat", "flock": "flock lock cat in.txt", "env": "env -u HOME cat", "strings": "strings -n 12 in.txt",
    "curl of a file": "curl -s file:///etc/hostname", "getent": "getent passwd root", "ssh": "ssh -G -F none -p 7 host.invalid",
    "ld.so": "/lib64/ld-linux-x86-64.so.2 /bin/cat", "a program that is not there": "no-such-program",
}

SHELL = {
    "pipeline": "cat in.txt | sort -r | uniq | wc -l",
    "yes and head": "yes | head -n 5",
    "status of a pipeline": "false | true; echo $?; true | false",
    "background jobs": "for i in 1 2 3 4; do (sleep 0.0$i; exit $i) & done; for j in 1 2 3 4; do wait; done; echo all",
    "wait for a status": "(exit 7) & wait $!; echo $?",
    "exit by trap": "trap 'echo trapped; exit 9' EXIT; exit 3",
    "trap of TERM": "trap 'echo term; exit 4' TERM; kill -TERM $$; sleep 5",
    "ignored TERM in a child": "trap '' TERM; sh -c 'kill -TERM $$; echo alive'",
    "killed by itself": "kill -KILL $$",
    "ended by TERM": "kill -TERM $$; sleep 5",
    "ended by INT": "kill -INT $$; sleep 5",
    "ended by HUP": "kill -HUP $$; sleep 5",
    "ended by USR1": "kill -USR1 $$; sleep 5",
    "ended by PIPE": "kill -PIPE $$; sleep 5",
    "ended by ALRM": "kill -ALRM $$; sleep 5",
    "child ended by SEGV": "sh -c 'kill -SEGV $$'; echo $?",
    "stopped and continued": "sh -c 'kill -STOP $$; echo on' & p=$!; sleep 0.2; kill -CONT $p; wait $p; echo $?",
    "exec": "exec cat in.txt",
    "exec three times": "exec sh -c 'exec sh -c \"exec wc -l in.txt\"'",
    "here-document": "cat <<X\nhere\nX",
    "subshells": "(cd tree; (cd a; (pwd | sed 's,.*/,,')))",
    "read": "while read a b; do echo \"$b $a\"; done",
    "closed standard output": "echo nothing >&-; echo $? >&2",
    "own descriptors": "exec 3>three.txt 4<in.txt; echo three >&3; read l <&4; echo $l; exec 3>&- 4<&-",
    "descriptor 9": "exec 9>nine.txt; sh -c 'echo nine >&9'",
    "a hundred processes": "i=0; while [ $i -lt 100 ]; do /bin/true; i=$((i+1)); done; echo $i",
    "umask": "umask 077; echo x >private; umask 0; echo x >public",
    "chdir and unlink": "mkdir gone; cd gone; rmdir ../gone; echo here; cat /dev/null",
    "command not found": "no-such-program; echo $?",
    "not executable": "./in.txt; echo $?",
    "xargs": "seq 20 | xargs -n 3 echo",
    "xargs -P": "seq 12 | xargs -P 4 -n 1 sh -c 'echo $0' | sort -n",
    "xargs that fails": "seq 3 | xargs -n 1 sh -c 'exit 5'; echo $?",
    "daemon": "setsid sh -c 'sleep 0.2; echo done >daemon.txt' </dev/null >/dev/null 2>&1 & while [ ! -s daemon.txt ]; do sleep 0.05; done",
    "named pipe": "mkfifo p; cat p & echo through >p; wait",
    "env -i": "env -i PATH=/usr/bin:/bin sh -c 'echo ${HOME:-none} ${LD_PRELOAD:-none}'",
    "its own LD_PRELOAD": "LD_PRELOAD= sh -c 'echo ${LD_PRELOAD:-none}'",
    "tar there and back": "tar -cf t.tar tree; mkdir x; tar -xf t.tar -C x; rm t.tar; find x | sort",
    "gzip there and back": "gzip -nc in.txt | gzip -dc | cmp - in.txt",
}

TOOLS = [
    shell("git", "git init -q g; cd g; echo x >x; git add x; "
          f"env {GIT} git -c gc.auto=0 commit -qm one; git log --format=%H; git status --short; git fsck; rm -rf .git", "git"),
    shell("git gc", f"git init -q g; cd g; for i in 1 2 3 4; do echo $i >x; git add x; env {GIT} git commit -qm $i; done; git gc -q; "
          "git rev-list --all --count; cd ..; rm -rf g", "git", longer=True),
    shell("gcc", C_PROGRAM + "gcc -O1 a.c -o a; ./a 6; echo $?; rm a", "gcc"),
    shell("gcc -static", C_PROGRAM + "gcc -static a.c -o a; rm a.c; ./a 6; echo $?; rm a", "gcc"),
    shell("gcc that fails", "echo 'int x = ;' >a.c; gcc -c a.c; echo $?", "gcc"),
    shell("make -j", "printf 'all: a b c d\\n%%: \\n\\t@sleep 0.05; echo $@ >$@\\n.PHONY: all\\n' >Makefile; make -s -j4; cat a b c d", "make"),
    shell("make that fails", "printf 'all:\\n\\t@exit 3\\n' >Makefile; make -s; echo $?", "make"),
    shell("cmake -P", "echo 'execute_process(COMMAND cat in.txt OUTPUT_VARIABLE o)\nstring(LENGTH \"${o}\" n)\nmessage(\"${n}\")' >s.cmake; "
          "cmake -P s.cmake", "cmake"),
    shell("ninja", "printf 'rule c\\n command = cp $in $out\\nbuild o.txt: c in.txt\\nbuild p.txt: c in.txt\\n' >build.ninja; ninja --quiet; "
          "rm .ninja_*", "ninja"),
    shell("sqlite3", "echo 'create table t(a); insert into t values(1),(2); select sum(a) from t;' | sqlite3 db; rm db", "sqlite3"),
    shell("openssl enc", "openssl enc -aes-256-cbc -pbkdf2 -S 0011223344556677 -k pass -in in.txt | sha256sum", "openssl"),
    shell("openssl key", "openssl genrsa -out key 2048 2>/dev/null; openssl rsa -in key -check -noout; rm key", "openssl"),
    shell("gdb", C_PROGRAM + "gcc -g a.c -o a; gdb -nx -batch -ex 'set startup-with-shell off' -ex 'set auto-load no' -ex run --args ./a 6 "
          "2>/dev/null | grep -c 'exited with code 06'; rm a", "gdb", "gcc", longer=True),
    shell("script", "script -qec 'echo in a terminal; tty -s; echo $?' /dev/null", "script", stdin=b""),
    shell("node", "node -e 'console.log([3,1,2].sort().join()); process.exitCode = 5'; echo $?", "node"),
    shell("node with threads", "node -e 'const {Worker} = require(\"worker_threads\"); new Worker(\"process.exit(3)\", {eval: true})"
          ".on(\"exit\", c => console.log(c))'", "node"),
    shell("node with children", "node -e 'console.log(require(\"child_process\").execSync(\"wc -l in.txt\").toString())'", "node"),
    shell("java", "printf 'class A { public static void main(String[] a) throws Exception { Thread t = new Thread(() -> "
          "System.out.println(1)); t.start(); t.join(); System.exit(4); } }' >A.java; java A.java; echo $?", "java", longer=True,
          varies=("files",)),
    shell("tclsh", "echo 'puts [expr 6*7]; puts [exec wc -l in.txt]; exit 3' | tclsh; echo $?", "tclsh"),
    shell("su", "su -s /bin/sh nobody -c 'id -un'", "su"),
    # What gives rights up thread by thread, or moves into a namespace, cannot do that beside threads, such as CUDA's own.
    shell("setpriv", "setpriv --reuid=65534 --regid=65534 --clear-groups id -u", "setpriv", ways=WAYS[:1]),
    shell("a program with the owner's rights", "setpriv --reuid=65534 --regid=65534 --clear-groups su --version | wc -l", "setpriv", "su", ways=WAYS[:1]),
    shell("unshare", "unshare -r id -u", "unshare", ways=WAYS[:1]),
    shell("chroot", "mkdir -p r/bin; cp /bin/true r/bin; chroot r /bin/true; [ $? -ne 0 ] && echo 'no loader there'", "chroot", varies=("stderr",)),
    shell("strace", "strace -f -o trace.txt -e trace=exit_group sh -c 'exit 5'; echo $?; grep -c 'exited with 5' trace.txt; rm trace.txt", "strace",
          longer=True, ways=WAYS[:1]),
    shell("valgrind", C_PROGRAM + "gcc -g a.c -o a; valgrind -q --error-exitcode=9 ./a 6; echo $?; rm a", "valgrind", "gcc", longer=True, ways=WAYS[:1]),
    shell("tmux", "tmux -S s -f /dev/null new-session -d 'echo in it >out.txt; exit 0'; while [ ! -s out.txt ]; do sleep 0.05; done; "
          "sleep 0.3; rm -f s", "tmux", longer=True),
    shell("rustc", "echo 'fn main() { std::process::exit(7) }' >a.rs; rustc a.rs -o a && ./a; echo $?; rm a", "rustc", longer=True),
    bash("coprocess", "coproc cat; echo x >&${COPROC[1]}; read -r l <&${COPROC[0]}; echo $l; exec {COPROC[1]}>&-; wait"),
    bash("process substitution", "diff <(sort in.txt) <(sort -r in.txt) | wc -l"),
    bash("job control", "set -m; sleep 30 & kill %1; wait %1; echo $?"),
    bash("trap of ERR and EXIT", "set -eE; trap 'echo err' ERR; trap 'echo exit' EXIT; false; echo never"),
    bash("exec -a", "exec -a another-name bash -c 'echo $0'"),
    bash("ulimit of its own", "ulimit -n 16; ulimit -n; exec cat in.txt"),
    bash("its own descriptor table", "for n in {10..40}; do eval \"exec $n<in.txt\"; done; ls /proc/self/fd | wc -l >/dev/null; echo ok"),
    bash("read with a time limit", "read -t 0.1 -u 8 x 8< <(sleep 1); echo $?"),
    bash("dev tcp", "exec 3<>/dev/tcp/127.0.0.1/1; echo $?"),
]

PERL = {
    "regular expressions": "while (<STDIN>) { print scalar reverse if /line/ }",
    "fork and wait": "for (1..5) { my $p = fork; exit $_ unless $p; waitpid $p, 0; print $? >> 8, qq{\\n} }",
    "die": "die qq{dead\\n}", "die of a signal": "kill 15, $$; sleep 5", "handler": "$SIG{TERM} = sub { print qq{term\\n}; exit 6 }; kill 15, $$; sleep 5",
    "exec": "exec qw(wc -l in.txt)", "pipe open": "open my $f, '-|', 'sort -r in.txt'; my @l = <$f>; print scalar @l",
    "alarm": "$SIG{ALRM} = sub { die qq{alarm\\n} }; alarm 1; sleep 5", "POSIX::_exit": "use POSIX; print qq{x\\n}; POSIX::_exit(8)",
    "socketpair": "use Socket; socketpair my $a, my $b, AF_UNIX, SOCK_STREAM, 0; syswrite $a, 'x'; sysread $b, my $c, 1; print $c",
    "close all": "use POSIX; POSIX::close($_) for 3..255; print qq{closed\\n}; exit 3", "END block": "END { print qq{end\\n} } exit 5",
    "ignored children": "$SIG{CHLD} = 'IGNORE'; system 'true'; print $?, qq{\\n}",
    "double fork": "use POSIX; unless (fork) { POSIX::setsid(); unless (fork) { sleep 1; open my $f, '>', 'd.txt'; print $f 'd'; exit } exit } "
                   "wait; select undef, undef, undef, 0.05 until -s 'd.txt'",
}

CASES = ([Case(f"{name}", tuple(command.split(" ")) if "'" not in command else ("/bin/sh", "-c", command),
               needs=() if "no-such" in command else (command.split(" ", maxsplit=1)[0],)) for name, command in ONE_COMMAND.items()]
         + [shell(name, code) for name, code in SHELL.items()]
         + TOOLS
         + [Case(f"perl: {name}", ("perl", "-e", code), needs=("perl",)) for name, code in PERL.items()])

# SPDX-License-Identifier: Apache-2.0
"""What Gable writes never ends the program, never takes the place of what is no file, and leaves no part of a file behind."""
import json
import os
import resource
import signal
import stat
import subprocess
import tempfile
import threading
import unittest

from hazards_test import GABLE, HAZARD, LIBRARY, RECORDING, playback_environment

REPORT = ["--step-range", "^step", "--active", "1"]


def injected(options, hazard="return", **how):
    """A hazard under the library alone; `return` prints one line and ends with 3."""
    env = playback_environment() | {"CUDA_INJECTION64_PATH": LIBRARY, "GABLE_OPTIONS": " ".join([*REPORT, *options])}
    return subprocess.run([HAZARD, hazard], env=env, text=True, timeout=240, check=False, **how)


def profiled(options, **how):
    env = {name: value for name, value in os.environ.items() if not name.startswith("GABLE_")}
    return subprocess.run([GABLE, "profile", "--playback", RECORDING, *REPORT, *options, "--", HAZARD, "return"], env=env, text=True,
                          timeout=240, check=False, **how)


def mode_of(path):
    return stat.S_IMODE(os.stat(path).st_mode)


class Writes(unittest.TestCase):
    def setUp(self):
        self.folder = self.make_folder()
        self.report = os.path.join(self.folder, "report.json")
        self.plain = subprocess.run([HAZARD, "return"], env=playback_environment(), text=True, capture_output=True, timeout=240, check=False)

    def make_folder(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return folder.name

    def assert_unchanged(self, done):
        self.assertEqual((done.returncode, done.stdout), (self.plain.returncode, self.plain.stdout), done.stderr)

    def assert_whole(self, path):
        with open(path, encoding="utf-8") as file:
            self.assertTrue(json.load(file)["run"]["complete"])

    def test_standard_error_that_nobody_reads(self):
        for options in (["--no-such-option"], ["-o", "/nonexistent/report.json"]):
            reader, writer = os.pipe()
            os.close(reader)
            done = injected(options, stdout=subprocess.PIPE, stderr=writer, cwd=self.folder)
            os.close(writer)
            self.assert_unchanged(done)

    def test_a_file_of_the_programs_that_is_number_2(self):
        done = injected(["-o", "/nonexistent/report.json"], capture_output=True, cwd=self.folder, hazard="own_file_as_standard_error")
        self.assertEqual(done.returncode, 3)
        with open(os.path.join(self.folder, "data"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "data\n")

    def test_a_limit_on_the_size_of_files(self):
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))  # noqa: E731
        done = injected(["-o", self.report], capture_output=True, preexec_fn=limit, cwd=self.folder)
        self.assert_unchanged(done)
        self.assertIn("report.json cannot be written: File too large.", done.stderr)
        self.assertEqual(os.listdir(self.folder), [])
        done = injected(["-o", self.report, "--record", os.path.join(self.folder, "record.jsonl")], capture_output=True, preexec_fn=limit,
                        cwd=self.folder)
        self.assert_unchanged(done)
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_full_disk(self):
        done = injected(["-o", "/dev/full"], capture_output=True)
        self.assert_unchanged(done)
        self.assertIn("/dev/full cannot be written: No space left on device.", done.stderr)
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/full").st_mode))

    def test_a_pipe_by_name_with_a_reader(self):
        os.mkfifo(self.report)
        read = []

        def read_it():
            with open(self.report, encoding="utf-8") as file:
                read.append(file.read())

        reader = threading.Thread(target=read_it)
        reader.start()
        done = injected(["-o", self.report], capture_output=True)
        reader.join(timeout=60)
        self.assert_unchanged(done)
        self.assertTrue(stat.S_ISFIFO(os.stat(self.report).st_mode))
        self.assertEqual(json.loads(read[0])["gable"]["schema"], 2, done.stderr)
        self.assertEqual(os.listdir(self.folder), ["report.json"])

    def test_a_pipe_by_name_without_a_reader(self):
        os.mkfifo(self.report)
        for run in (injected, profiled):
            done = run(["-o", self.report], capture_output=True)
            self.assert_unchanged(done)
            self.assertIn("report.json cannot be written: nobody reads it.", done.stderr)
            self.assertTrue(stat.S_ISFIFO(os.stat(self.report).st_mode))

    def test_standard_output_in_a_file(self):
        log = os.path.join(self.folder, "log")
        for run in (injected, profiled):
            with open(log, "w", encoding="utf-8") as file:
                done = run(["-o", "/dev/stdout"], stdout=file, stderr=subprocess.PIPE)
            self.assertEqual(done.returncode, 3, done.stderr)
            with open(log, encoding="utf-8") as file:
                text = file.read()
            start = text.index('{\n')
            self.assertEqual(text[:start].strip() + text[text.rindex('}') + 1:].strip(), self.plain.stdout.strip())
            self.assertEqual(json.loads(text[start:text.rindex('}') + 1])["run"]["source"], "playback")
            self.assertTrue(os.path.islink("/dev/stdout"))
            self.assertNotIn("gable:", done.stderr)

    def test_modes_of_files(self):
        usual = lambda: os.umask(0o027)  # noqa: E731
        self.assert_unchanged(injected(["-o", self.report], capture_output=True, preexec_fn=usual))
        self.assertEqual(mode_of(self.report), 0o640)
        os.chmod(self.report, 0o604)
        self.assert_unchanged(injected(["-o", self.report], capture_output=True, preexec_fn=usual))
        self.assertEqual(mode_of(self.report), 0o604)
        self.assert_whole(self.report)
        public = os.path.join(self.folder, "public")
        os.mkdir(public)
        os.chmod(public, 0o1777)
        path = os.path.join(public, "report.json")
        self.assert_unchanged(injected(["-o", path], capture_output=True))
        self.assertEqual(mode_of(path), 0o600)

    def test_a_link_to_what_is_not_there_yet(self):
        target, link = os.path.join(self.make_folder(), "target.json"), os.path.join(self.folder, "link.json")
        os.symlink(target, link)
        self.assert_unchanged(injected(["-o", link], capture_output=True))
        self.assertEqual(os.readlink(link), target)
        self.assert_whole(target)

    def test_a_report_that_cannot_be_written_is_not_looked_for(self):
        done = profiled(["-o", "/proc/report.json"], capture_output=True, cwd=self.folder)
        self.assert_unchanged(done)
        self.assertNotIn("gable: /proc", done.stderr)
        self.assertIn("gable: No table is printed for /proc/report.json: there is no such file.", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 2, done.stderr)

    def test_a_snapshot_that_fails_before_the_end_changes_no_name(self):
        with subprocess.Popen([GABLE, "profile", "--playback", RECORDING, *REPORT, "-o", "/proc/report.json", "--", HAZARD, "until_a_signal"],
                              env=playback_environment() | {"GABLE_PLAYBACK_SNAPSHOT_MS": "1"}, cwd=self.folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            try:
                self.assertIn("/proc/report.json cannot be written", process.stderr.readline())
            finally:  # it ends by this alone
                process.send_signal(signal.SIGTERM)
            _, err = process.communicate(timeout=240)
        self.assertEqual(err, "gable: No table is printed for /proc/report.json: there is no such file.\n")

    @unittest.skipUnless(os.geteuid() == 0, "only root can make a link of somebody else's")
    def test_a_link_of_somebody_elses(self):
        public = os.path.join(self.folder, "public")
        os.mkdir(public)
        os.chmod(public, 0o1777)
        mine = os.path.join(self.folder, "mine")
        with open(mine, "w", encoding="utf-8") as file:
            file.write("mine\n")
        path = os.path.join(public, "report.json")
        os.symlink(mine, path)
        os.lchown(path, 65534, 65534)
        self.assert_unchanged(injected(["-o", path], capture_output=True))
        with open(mine, encoding="utf-8") as file:
            self.assertEqual(file.read(), "mine\n")
        self.assert_whole(path)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""Files of nsys: tables that are missing, calls with two rows, ranges and their projection, and what is no such file."""
import sqlite3
import unittest

from import_run import ImportTest, export_nsys, kernel, layer, notes

KERNELS = "CUPTI_ACTIVITY_KIND_KERNEL"


class NsysTest(ImportTest):
    def export(self, *changes, name="run.sqlite"):
        return export_nsys(self.folder / name, *changes)


class Schemas(NsysTest):
    def test_times_kernels_and_layers(self):
        report = self.report("--nsys", self.export())
        self.assertEqual(report["run"]["total"]["gpu_time_ns"], 500 + 100 + 700 + 1)
        mm = layer(report, "model", "aten::mm")
        self.assertEqual((mm["calls"], mm["cpu_ns"], mm["launches"]), (2, 45 + 45, 2))
        self.assertEqual(mm["time_ns"]["total"], 600)
        row = kernel(report, "gemm(float *, int)", layer=mm["id"])
        self.assertEqual((row["launches"], row["grid"], row["block"]), (1, [4, 1, 1], [128, 1, 1]))
        self.assertEqual(kernel(report, "relu(float *)", layer=mm["id"])["dynamic_shared"], 64)
        self.assertIn("nsys 2025.3.1.90 (run.sqlite)", notes(report))

    def test_a_call_with_two_rows_is_one_launch(self):
        report = self.report("--nsys", self.export())
        self.assertEqual(sum(row["launches"] for row in report["kernels"]), 4)

    def test_the_same_correlation_in_another_process_is_another_call(self):
        # That process has a kernel too, and a call with the number of this one's, before every range.
        report = self.report("--nsys", self.export(f"INSERT INTO {KERNELS} VALUES (9500, 9600, 0, 1, 7, 50, 33554432, 4, 5, 8, 1, 1, "
                                                   "256, 1, 1, 64)"))
        self.assertEqual(layer(report, "model", "aten::mm")["launches"], 2)
        self.assertEqual(layer(report)["time_ns"]["self"], 1 + 100)

    def test_projection_from_first_start_to_last_end(self):
        report = self.report("--nsys", self.export())
        # Of two instances: 500 of a kernel; 3000 to 5040, with the copy.
        self.assertEqual(layer(report, "model", "aten::mm")["span_ns"], 500 + 2040)
        self.assertEqual(layer(report, "model")["span_ns"], 5040 - 2000)
        self.assertEqual(layer(report, "model")["time_ns"]["total"], 600)

    def test_what_blocks_take(self):
        for row in self.report("--nsys", self.export())["kernels"]:
            self.assertEqual([row[key] for key in ("registers", "shared_bytes", "blocks_per_sm", "waves")], [None] * 4)
            self.assertIn("small_grid", row["flags"])  # 4 and 8 blocks for 40 SMs
        report = self.report("--nsys", self.export(
            "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD registersPerThread INTEGER", "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD staticSharedMemory INTEGER",
            "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET registersPerThread = 128, staticSharedMemory = 20000"))
        # Where one of the columns is missing, nothing is made up of the others.
        for left_out in ("registersPerThread", "staticSharedMemory", "dynamicSharedMemory"):
            partly = self.report("--nsys", self.export(
                "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD registersPerThread INTEGER", "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD staticSharedMemory INTEGER",
                "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET registersPerThread = 128, staticSharedMemory = 20000",
                f"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET {left_out} = NULL"))
            for row in partly["kernels"]:
                self.assertEqual([row[key] for key in ("registers", "shared_bytes", "blocks_per_sm", "waves")], [None] * 4, left_out)
        # A T4: 65,536 / (128 x 128) = 4 blocks by registers, 65,536 / 20,224 = 3 by shared memory; of 256 threads 2 by registers.
        wanted = {"gemm(float *, int)": [128, 20000, 3, 4 / 120], "relu(float *)": [128, 20064, 2, 8 / 80]}
        for row in report["kernels"]:
            self.assertEqual([row[key] for key in ("registers", "shared_bytes", "blocks_per_sm", "waves")], wanted[row["name"]])

    def test_names_of_domains_and_registered_strings(self):
        report = self.report("--nsys", self.export())
        row = layer(report, "mylib:registered")  # never closed
        self.assertEqual(row["time_ns"]["total"], 700)

    def test_copies(self):
        report = self.report("--nsys", self.export())
        mm = layer(report, "model", "aten::mm")
        self.assertEqual([(c["kind"], c["bytes"], c["time_ns"], c["layer"]) for c in report["copies"]],
                         [("device_to_host", 4096, 40, mm["id"])])

    def test_a_kernel_without_a_call_is_counted(self):
        report = self.report("--nsys", self.export())
        self.assertEqual(report["run"]["lost"]["unattributed_launches"], 1)
        self.assertIn("1 of 4 kernels (25.0 %) have no call in the file", notes(report))

    def test_the_gpu_and_its_bandwidth(self):
        report = self.report("--nsys", self.export())
        device = report["devices"][0]
        self.assertEqual((device["name"], device["chip"], device["compute_capability"], device["sm_count"]), ("Tesla T4", "TU104", "7.5", 40))
        self.assertEqual((device["clocks_hz"]["sm_max"], device["l2_bytes"], device["memory_bytes"]), (1590000000, 4194304, 15828320256))
        dram = [c for c in report["ceilings"] if c["name"] == "dram"]
        self.assertEqual([c["value"] for c in dram], [320064000000])
        self.assertIn("memoryBandwidth", dram[0]["source"])

    def test_tables_that_are_missing(self):
        for table in ("NVTX_EVENTS", "TARGET_INFO_GPU", "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_RUNTIME",
                      "META_DATA_EXPORT"):
            with self.subTest(table):
                report = self.report("--nsys", self.export(f"DROP TABLE {table}"))
                self.assertEqual(report["run"]["total"]["gpu_time_ns"], 1301)

    def test_schema_2_has_its_version_elsewhere(self):
        report = self.report("--nsys", self.export("ALTER TABLE META_DATA_EXPORT RENAME TO EXPORT_META_DATA"))
        self.assertIn("nsys 2025.3.1.90", notes(report))

    def test_times_before_the_zero_of_the_session(self):
        """All moved to before it: durations, layers and steps are what they were."""
        tables = ("CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS")
        for by in (1, 5, 250, 2000, 3050, 20000):
            moved = [f"UPDATE {table} SET start = start - {by}, end = end - {by}" for table in tables]
            for options in ((), ("--step-range", "^aten::mm")):
                with self.subTest(by=by, options=options):
                    here = self.report("--nsys", self.export(), *options)
                    there = self.report("--nsys", self.export(*moved), *options)
                    for part in ("layers", "kernels", "copies", "step"):
                        self.assertEqual(here[part], there[part])

    def test_a_kernel_at_the_zero_has_a_time(self):
        here = self.export("DELETE FROM NVTX_EVENTS", "DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME", f"UPDATE {KERNELS} SET start = start - 2000, end = end - 2000")
        report = self.report("--nsys", here)
        self.assertEqual((report["run"]["total"]["gpu_time_ns"], report["run"]["lost"]["zero_timestamps"]), (1301, 0))

    def test_adapters_that_cuda_does_not_have(self):
        """As Windows lists them, with the number of the first GPU."""
        report = self.report("--nsys", self.export(
            "INSERT INTO TARGET_INFO_GPU VALUES (1, 'Microsoft Basic Render Driver', '', 0, 0, 0, 0, 0, 0, 0, 0)"))
        self.assertEqual([each["name"] for each in report["devices"]], ["Tesla T4"])

    def test_devices_of_old_exports(self):
        old = ("DROP TABLE TARGET_INFO_GPU", "CREATE TABLE TARGET_INFO_CUDA_GPU (vmId, name, deviceId, pid, numMultiprocessors, coreClockRate, "
               "globalMemoryBandwidth, globalMemorySize, l2CacheSize, computeCapabilityMajor, computeCapabilityMinor)",
               *[f"INSERT INTO TARGET_INFO_CUDA_GPU VALUES (1, 'NVIDIA GeForce RTX 3080', 0, {pid}, 68, 1740000, 760080000, "
                 "10495524864, 5242880, 8, 6)" for pid in (10, 11)])
        report = self.report("--nsys", export_nsys(self.folder / "old.sqlite", *old))
        device = report["devices"][0]
        self.assertEqual([device["name"], device["sm_count"], device["clocks_hz"]["sm_max"], device["compute_capability"]],
                         ["NVIDIA GeForce RTX 3080", 68, 1740000000, "8.6"])
        self.assertEqual([roof["value"] for roof in report["ceilings"] if roof["name"] == "dram"], [760080000000])

    def test_migrations_of_unified_memory(self):
        kinds = {}
        for kind in (11, 12, 13, 99):
            report = self.report("--nsys", export_nsys(self.folder / "m.sqlite", f"UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET copyKind = {kind}"))
            kinds[kind] = {(copy["kind"], copy["host_memory"]) for copy in report["copies"] if copy["kind"] != "memset"}
        self.assertEqual(kinds, {11: {("host_to_device", "managed")}, 12: {("device_to_host", "managed")},
                                 13: {("device_to_device", "managed")}, 99: {("other", None)}})

    def test_numbers_that_the_process_has_for_gpus(self):
        """A process that sees the second GPU alone calls it 0."""
        report = self.report("--nsys", self.export(
            "INSERT INTO TARGET_INFO_GPU VALUES (1, 'NVIDIA L4', 'AD104', 1, 58, 2040000000, 300000000000, 50331648, 24000000000, 8, 9)",
            "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER)", "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (1, 0, 1)"))
        self.assertEqual([(each["id"], each["name"]) for each in report["devices"]], [(0, "NVIDIA L4")])

    def test_environment_and_processes_stay_out(self):
        self.report("--nsys", self.export())
        for word in ("hunter2", "API_TOKEN", "secret"):
            self.assertNotIn(word, self.text)


class Waits(NsysTest):
    NAMES = "INSERT INTO StringIds VALUES (8, 'cudaStreamSynchronize_v3020'), (9, 'cuStreamSynchronize'), (10, 'cudaMemcpy_v3020')"

    def test_time_in_synchronising_calls_by_the_layer_that_was_open(self):
        # The driver's call within the runtime's, one of a thread without ranges, and a copy.
        report = self.report("--nsys", self.export(
            self.NAMES, "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (230, 240, 1, 16777217, 20, 8, 0), (231, 238, 0, 16777217, 20, 9, 0), "
            "(255, 257, 1, 16777217, 21, 8, 0), (500, 530, 1, 16777219, 22, 8, 0), (600, 700, 1, 16777217, 23, 10, 0)"))
        self.assertEqual(layer(report, "model", "aten::mm")["sync_ns"], 10)
        self.assertEqual(layer(report, "model")["sync_ns"], 12)
        self.assertEqual(layer(report)["sync_ns"], 42)

    def test_without_calls_it_is_unknown(self):
        report = self.report("--nsys", self.export("DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME"))
        self.assertIsNone(layer(report)["sync_ns"])


class LongNames(NsysTest):
    """NVIDIA's own pyprof writes JSON of many hundred bytes into ranges, with what tells them apart at its end."""
    LONG = "x" * 600

    def test_ranges_that_differ_behind_512_bytes_are_different_layers(self):
        report = self.report("--nsys", self.export(f"UPDATE NVTX_EVENTS SET text = '{self.LONG} first' WHERE start = 105",
                                                   f"UPDATE NVTX_EVENTS SET text = '{self.LONG} second' WHERE start = 205"))
        rows = [row for row in report["layers"] if row["path"][-1:] and row["path"][-1].startswith("xxx")]
        self.assertEqual(sorted(row["time_ns"]["total"] for row in rows), [100, 500])
        for row in rows:
            self.assertLessEqual(len(row["path"][-1]), 512)
            self.assertRegex(row["path"][-1], "x (first|second) #[0-9a-f]{8}$")

    def test_steps_are_named_by_the_whole_name(self):
        report = self.report("--nsys", self.export(f"UPDATE NVTX_EVENTS SET text = '{self.LONG} step' WHERE start IN (105, 205)"), "--step-range", "x step$")
        self.assertEqual(report["run"]["steps"]["seen"], 2)


class Steps(NsysTest):
    def test_ranges_that_the_user_names_are_steps(self):
        report = self.report("--nsys", self.export("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (9100, 9200, 0, 77, 16777216, 64, 1)"),
                             "--step-range", "^aten::mm")
        self.assertEqual((report["run"]["unit"], report["run"]["steps"]["seen"]), ("step", 2))
        self.assertEqual(report["run"]["steps"]["border"], "range")
        self.assertEqual(report["step"]["host_ns"]["mean"], 45)
        self.assertEqual(layer(report, "model", "aten::mm")["time_ns"]["total"], (500 + 100) / 2)
        self.assertIn("2 of 4 kernels ran outside of the steps", notes(report))
        self.assertIn("1 of 2 copies and memsets ran outside of the steps", notes(report))

    def test_steps_of_a_file_without_steps_are_not_spoken_of(self):
        self.assertNotIn("How long a step takes", notes(self.report("--nsys", self.export())))
        one = self.report("--nsys", self.export(), "--step-range", "^model$")
        self.assertIn("Record one more step", notes(one))

    def test_steps_are_one_layer(self):
        report = self.report("--nsys", self.export("UPDATE NVTX_EVENTS SET text = 'step 7' WHERE start = 105",
                                                   "UPDATE NVTX_EVENTS SET text = 'step 8' WHERE start = 205"), "--step-range", "^step")
        self.assertEqual(report["run"]["steps"]["seen"], 2)
        self.assertEqual(layer(report, "model", "step #")["launches"], 1)

    def test_a_range_that_never_ended_is_no_step(self):
        said = self.refused("--nsys", self.export(), "--step-range", "^registered")
        self.assertIn('has no range that --step-range ^registered names: take one of its ranges, such as', said)

    def test_a_name_that_no_range_has(self):
        said = self.refused("--nsys", self.export(), "--step-range", "^epoch")
        self.assertIn('has no range that --step-range ^epoch names: take one of its ranges, such as', said)
        self.assertIn("model", said)
        said = self.refused("--nsys", self.export("DROP TABLE NVTX_EVENTS"), "--step-range", "^epoch")
        self.assertIn("none at all: record ranges too", said)

    def test_no_regular_expression(self):
        self.assertIn("--step-range takes a regular expression", self.refused("--nsys", self.export(), "--step-range", "["))
        self.assertIn("--step-range", self.refused("--nsys", self.export(), "--step-range", ""))


class BadInput(NsysTest):
    def test_what_sqlite_says_of_several_lines_is_one_sentence(self):
        said = self.refused("--nsys", self.export("PRAGMA writable_schema = ON", "UPDATE sqlite_master SET sql = 'CREATE TABLE [t (' || "
                                                  "char(10) || 'a)' WHERE name = 'NVTX_EVENTS'"))
        self.assertIn("malformed database schema", said)

    NONE = "DROP TABLE " + KERNELS
    SAID = "CREATE TABLE DIAGNOSTIC_EVENT (timestamp INTEGER, timestampType INTEGER, source INTEGER, severity INTEGER, text TEXT, globalPid INTEGER)"

    def says(self, severity, text):
        return "INSERT INTO DIAGNOSTIC_EVENT VALUES (0, 0, 1, {}, '{}', 0)".format(severity, text.replace("'", "''"))

    def test_no_kernels(self):
        said = self.refused("--nsys", self.export(self.NONE))
        self.assertIn("has no table " + KERNELS + ": nsys recorded no kernel, but 4 NVTX ranges, 6 CUDA calls and 1 copy or memset; "
                      "record with --trace cuda,nvtx a part that launches kernels.", said)
        self.assertIn("no row in " + KERNELS + ": nsys recorded no kernel", self.refused("--nsys", self.export("DELETE FROM " + KERNELS)))
        tables = ("NVTX_EVENTS", "CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_MEMCPY")
        said = self.refused("--nsys", self.export(self.NONE, *("DROP TABLE " + table for table in tables)))
        self.assertIn("no kernel, nor anything else of the program; record with --trace cuda,nvtx.", said)
        self.assertIn("--cuda-graph-trace node", self.refused("--nsys", self.export(
            self.NONE, "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER)", "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (1)")))

    def test_kernels_that_are_missing_within_graphs(self):
        report = self.report("--nsys", self.export("CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER)",
                                                   "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (1), (2)"))
        self.assertIn("2 launches of CUDA graphs were recorded as wholes", notes(report))

    def test_why_there_are_none_as_nsys_says_it(self):
        driver = "Installed CUDA driver version (13.2) is not supported by this build of Nsight Systems."
        vague, hollow = "CUDA profiling might have not been started correctly.", "No CUDA events collected. Does the process use CUDA?"
        said = self.refused("--nsys", self.export(self.NONE, self.SAID, self.says(1, "Number of CUDA events collected: 0."), self.says(2, hollow),
                                                  self.says(2, vague), self.says(2, vague), self.says(3, driver)))
        self.assertIn(f"(nsys says: {driver[:-1]}; {vague[:-1]}); when that is mended, record", said)
        self.assertIn(f"(nsys says: {hollow})", self.refused("--nsys", self.export(self.NONE, self.SAID, self.says(2, hollow))))
        self.assertIn("(nsys says: Subscribe returned 999: CUPTI_ERROR_UNKNOWN)", self.refused("--nsys", self.export(
            self.NONE, self.SAID, self.says(3, "Subscribe returned 999: CUPTI_ERROR_UNKNOWN"))))
        # What is of other parts of nsys is no reason.
        for other in ("Unable to configure the collection of CPU IP/backtrace samples.", "No NVTX events collected. Does the process use NVTX?",
                      "CUDA device 0: Unified Memory cannot be traced on devices that do not support peer-to-peer transfers."):
            self.assertNotIn("nsys says", self.refused("--nsys", self.export(self.NONE, self.SAID, self.says(2, other))))

    def test_what_nsys_says_is_repeated_without_paths_hosts_and_secrets(self):
        for text in ("CUDA injection failed on host gpu17 for '/home/alice/train me.py'", "Cannot load /home/alice/libcupti.so.12 for CUDA on secret-host",
                     "CUDA failed: API_TOKEN=hunter2 alice@gpu17.example.com", r"CUDA injection failed in C:\Users\alice\a.exe",
                     "CUDA injection failed in secret-process at 10.1.2.3", "CUDA driver error: token ghp_0123456789abcdef user alice1"):
            said = self.refused("--nsys", self.export(self.NONE, self.SAID, self.says(3, text)))
            self.assertIn("nsys says", said)
            for word in ("alice", "gpu17", "hunter2", "secret", "ghp_", "10.1.2.3", "train", "libcupti"):
                self.assertNotIn(word, said.replace(str(self.folder), ""), text)

    def test_numbers_out_of_range_name_the_row(self):
        for change in ("end = 1", "end = -5", "start = -5000000000000000000", "start = 5000000000000000000", "gridX = 4294967296", "start = NULL", "correlationId = 'x'"):
            with self.subTest(change):
                said = self.refused("--nsys", self.export(f"UPDATE {KERNELS} SET {change} WHERE correlationId = 12"))
                self.assertIn(f"{KERNELS}, row 2", said)
        said = self.refused("--nsys", self.export("UPDATE NVTX_EVENTS SET end = 1 WHERE text = 'model'"))
        self.assertIn("NVTX_EVENTS, row 2", said)

    def test_cut_off(self):
        whole = self.export("CREATE TABLE filler AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 9999) "
                            "SELECT i, randomblob(20) FROM n").read_bytes()
        for size in (60, 5000, 20000):
            with self.subTest(size):
                self.refused("--nsys", self.file("cut.sqlite", whole[:size]))
        # A page that is not whole: SQLite takes the rest of it for zeros.
        for lost in (1, 50, 4095):
            self.assertIn("was cut off", self.refused("--nsys", self.file("cut.sqlite", whole[:-lost])))

    def test_another_database(self):
        path = self.folder / "other.sqlite"
        base = sqlite3.connect(path)
        base.execute("CREATE TABLE songs (title TEXT)")
        base.commit()
        base.close()
        self.assertIn("not an export of nsys", self.refused("--nsys", path))

    def test_a_view_is_no_table(self):
        path = self.folder / "view.sqlite"
        base = sqlite3.connect(path)
        base.executescript(f"CREATE TABLE StringIds (id INTEGER); CREATE VIEW {KERNELS} AS SELECT 1 AS start, 2 AS end")
        base.commit()
        base.close()
        self.assertIn("has no table", self.refused("--nsys", path))

    def test_other_files(self):
        self.assertIn("is empty", self.refused("--nsys", self.file("e.sqlite", "")))
        self.assertIn("not an SQLite file", self.refused("--nsys", self.file("b.sqlite", bytes(range(256)) * 9)))
        self.assertIn("--kineto", self.refused("--nsys", self.file("t.json", '{"traceEvents": []}')))
        self.assertIn("--ncu", self.refused("--nsys", self.file("t.csv", '"ID","Process ID"\n')))
        self.assertIn("No such file", self.refused("--nsys", self.folder / "missing.sqlite"))

    def test_a_report_of_nsight_systems_names_the_export(self):
        said = self.refused("--nsys", self.file("run.nsys-rep", b"\x01\x02anything"))
        self.assertIn("nsys export --type sqlite -o run.sqlite", said)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""What NVML tells of the GPUs is in the report; what it does not tell, or not in time, is null."""
import unittest

from small import SmallTest

UNKNOWN_PCIE = {"generation": None, "width": None, "generation_max": None, "width_max": None}


class Links(SmallTest):
    def links(self, name, **more):
        devices = self.report(name, **more).document["devices"]
        return [(device["pcie"], device["nvlink"]) for device in devices]

    def test_what_nvml_tells(self):
        self.assertEqual(self.links("gpu_links"), [
            ({"generation": 5, "width": 16, "generation_max": 5, "width_max": 16}, {"links": 18, "version": 4}),
            ({"generation": 5, "width": 8, "generation_max": 5, "width_max": 8}, {"links": 0, "version": None}),
        ])

    def test_copies_under_their_links_roof(self):
        document = self.report("gpu_links").document
        copies = {copy["kind"]: (copy["host_memory"], copy["bytes_per_s"], copy["roof"]) for copy in document["copies"]}
        # PCIe 5.0: 32 GT/s, 128 of 130 bits, 16 lanes and 8.
        lane = 32e9 / 8 * 128 / 130
        memory, rate, roof = copies["host_to_device"]
        self.assertEqual((memory, rate, roof["ceiling"]), ("pageable", 31508000000, "pcie"))
        self.assertAlmostEqual(roof["fraction"], 31.508e9 / (16 * lane), places=9)
        memory, rate, roof = copies["device_to_host"]
        self.assertEqual((memory, rate), ("pinned", 15754000000))
        self.assertAlmostEqual(roof["fraction"], 15.754e9 / (8 * lane), places=9)
        links = {(c["device"], c["name"]): (c["value"], c["source"]) for c in document["ceilings"] if c["kind"] == "link"}
        self.assertEqual(set(links), {(0, "pcie"), (0, "nvlink"), (1, "pcie")})
        self.assertEqual(links[0, "nvlink"], (450e9, "theoretical: NVLink 4, 18 links, each way"))

    def test_what_it_does_not_tell(self):
        unknown = (UNKNOWN_PCIE, {"links": None, "version": None})
        self.assertEqual(self.links("two_devices"), [unknown, unknown])

    def test_calls_that_refuse(self):
        # The state of the second link cannot be had: how many there are is not known.
        pcie = {"generation": 5, "width": 16, "generation_max": 5, "width_max": 16}
        for call, after, expected in (
                ("nvmlInit_v2", 0, (UNKNOWN_PCIE, {"links": None, "version": None})),
                ("nvmlDeviceGetHandleByPciBusId_v2", 0, (UNKNOWN_PCIE, {"links": None, "version": None})),
                ("nvmlDeviceGetNvLinkState", 1, (pcie, {"links": None, "version": 4})),
                ("nvmlDeviceGetNvLinkVersion", 0, (pcie, {"links": 18, "version": None})),
                ("nvmlDeviceGetMaxPcieLinkGeneration", 0, (pcie | {"generation": 4, "generation_max": None}, {"links": 18, "version": 4}))):
            with self.subTest(call):
                fault = '{"fault":"call","call":"%s","code":999,"after":%d}' % (call, after)
                found = self.links("gpu_links", environment={"GABLE_PLAYBACK_FAULTS": fault})
                self.assertEqual(found[0], expected)


class State(SmallTest):
    """How many readings there are is a matter of time: at least one, as counters are taken."""
    LINE = "GPU 0 throttled: power cap, 100 % of samples; mean SM clock 1.41 GHz of 1.98 GHz"

    def test_a_gpu_at_its_power_limit(self):
        run = self.gable("gpu_state")
        device = run.report.document["devices"][0]
        state = device["state"]
        self.assertGreater(state.pop("samples"), 0)
        self.assertEqual(state, {
            "idle_samples": 0,
            "sm_clock_hz": {"mean": 1410e6, "min": 1410e6, "max": 1410e6},
            "memory_clock_hz": {"mean": 3201e6, "min": 3201e6, "max": 3201e6},
            "power_w": {"mean": 690.5, "max": 690.5, "limit": 700},
            "temperature_max_c": 71,
            "throttled": {"any": 1, "power_cap": 1, "sw_thermal": 0, "hw_thermal": 0, "hw_slowdown": 0, "power_brake": 0,
                          "sync_boost": 0},
            "clocks_set": 0,
        })
        self.assertIn(self.LINE, run.err.splitlines())
        self.assert_noted(run.report, "The clocks of device 0 were throttled (power cap, 100 % of samples), its mean SM clock was 1.41 "
                                      "GHz of 1.98 GHz: a higher power limit helps (nvidia-smi -pl)")

    def test_the_link_is_the_one_at_work(self):
        devices = self.report("gpu_state").document["devices"]
        self.assertEqual(devices[0]["pcie"], {"generation": 4, "width": 16, "generation_max": 5, "width_max": 16})
        # An idle GPU's link sleeps.
        self.assertEqual(devices[1]["pcie"], {"generation": 5, "width": 16, "generation_max": 5, "width_max": 16})

    def test_an_idle_gpu_has_no_clocks(self):
        state = self.report("gpu_state").document["devices"][1]["state"]
        self.assertEqual(state["samples"], 0)
        self.assertGreater(state["idle_samples"], 0)
        self.assertEqual(state["sm_clock_hz"], {"mean": None, "min": None, "max": None})
        self.assertEqual(state["power_w"], {"mean": None, "max": None, "limit": 700})
        self.assertEqual((state["throttled"], state["temperature_max_c"]), (None, 40))

    def test_a_gpu_that_is_not_used_is_not_asked(self):
        self.assertIsNone(self.report("gpu_state").document["devices"][2]["state"])

    def test_where_nvml_tells_nothing(self):
        run = self.gable("two_devices")
        self.assertEqual([device["state"] for device in run.report.document["devices"]], [None, None])
        self.assertNotIn("throttled", run.err)

    def test_calls_that_refuse(self):
        for call, unknown in (("nvmlDeviceGetCurrentClocksEventReasons", ("throttled", "clocks_set")),
                              ("nvmlDeviceGetTemperature", ("temperature_max_c",))):
            with self.subTest(call):
                fault = '{"fault":"call","call":"%s","code":3,"after":0,"times":-1}' % call
                state = self.report("gpu_state", environment={"GABLE_PLAYBACK_FAULTS": fault}).document["devices"][0]["state"]
                self.assertEqual([state[name] for name in unknown], [None] * len(unknown))
                self.assertEqual(state["power_w"]["limit"], 700)


class Hang(SmallTest):
    """A call of NVML that never returns costs what it would have told, and nothing else."""
    CALLS = ("nvmlInit_v2", "nvmlDeviceGetHandleByPciBusId_v2", "nvmlDeviceGetMaxPcieLinkWidth", "nvmlDeviceGetNvLinkState",
             "nvmlDeviceGetMemoryInfo", "nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetClockInfo", "nvmlDeviceGetPowerUsage")

    def test_every_number_but_these_is_there(self):
        whole = self.report("gpu_state")
        for call in self.CALLS:
            with self.subTest(call):
                fault = '{"fault":"hang","call":"%s","after":0,"times":1}' % call
                run = self.gable("gpu_state", environment={"GABLE_PLAYBACK_FAULTS": fault})
                for part in ("kernels", "copies", "step"):
                    self.assertEqual(run.report.document[part], whole.document[part])
                roofs, all_roofs = ([roof for roof in report.document["ceilings"] if roof["kind"] != "link"] for report in (run.report, whole))
                self.assertEqual(roofs, all_roofs)
                self.assertEqual(run.report.run["overhead"]["gpu_memory_bytes"], None)
                self.assertIsNone(run.report.document["devices"][0]["state"])


if __name__ == "__main__":
    unittest.main()

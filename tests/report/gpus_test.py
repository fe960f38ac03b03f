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


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""The stage resnet: ResNet-50 and models like it under Gable, as a user runs them."""
import os
import subprocess
import sys

import runs

# torchvision's ResNet-50, 224 x 224, one image: multiplications and additions of its convolutions and of fc.
FORWARD_FLOPS = 8_178_368_512
STEPS = 30 if runs.REHEARSE else 60


def flops():
    """TF32 off, so that all of it runs on the CUDA cores, which count exactly."""
    for batch in (2,) if runs.REHEARSE else (1, 8):
        options = ("--mode", "infer", "--batch", batch, "--steps", STEPS)
        recording, rows = runs.playback_gpu("resnet", *options)
        expected = FORWARD_FLOPS * batch if rows is None else sum(row["flops"] for row in rows.values())
        _, report = runs.profiled("resnet", *options, recording=recording)
        counted = runs.root_of(report)["flops"]["total"]
        ratio = None if counted is None else counted / expected
        runs.emit("forward_flops", f"batch {batch}: counted / by formula {ratio and round(ratio, 6)}", {"counted": "not counted",
                  "ratio": "not counted"}, batch=batch, expected=expected, counted=counted, ratio=ratio)


def case(name, *options):
    """One program: the same output as plain, a report, and what measuring added."""
    steps = STEPS + 20 if "--compile" in options else STEPS
    options = (*options, "--steps", steps)
    recording, _ = runs.playback_gpu(name, *options)
    plain = runs.plain(name, *options, recording=recording)
    under, report = runs.profiled(name, *options, recording=recording, gable=("--active", "3"))
    fields, unknown = runs.summary(report)
    slowdown = report["run"]["overhead"]["slowdown"]
    added = runs.percent(under.total_ns, plain.total_ns)
    runs.emit("case", f"{fields['layers']} layers, {fields['kernels']} kernels, run +{added} %", unknown, options=" ".join(map(str, options)),
              same_output=plain.output == under.output, plain_step_ms=plain.median_ns / 1e6, added_percent=added,
              slowdown={phase: value for phase, value in slowdown.items() if value is not None} or {"none": "one phase alone"}, **fields)


def imagenet(script):
    """PyTorch's example, unmodified, with its own dummy data; SIGINT ends it when the queue is complete."""
    report = runs.path_of("report.json")
    command = [runs.GABLE, "profile", "-q", "--then", "stop", "-o", report, "--", sys.executable, script, "-a", "resnet50",
               "--dummy", "-b", "64", "--epochs", "1", "-p", "10"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=runs.WORK, check=False)
    sys.stderr.write(done.stderr)
    if not os.path.exists(report):
        raise runs.Failed(f"no report; the program ended with {done.returncode}")
    fields, unknown = runs.summary(runs.read(report))
    runs.emit("imagenet", f"{fields['layers']} layers, {fields['kernels']} kernels", unknown, exit_code=done.returncode, **fields)


def overhead():
    """Five pairs, one after the other, so that a clock that drifts drifts for both."""
    pairs, steps = (1, 40) if runs.REHEARSE else (5, 260)
    options = ("--mode", "train", "--batch", 2 if runs.REHEARSE else 64, "--steps", steps)
    recording, _ = runs.playback_gpu("resnet", *options)
    plain, under, after, phases = [], [], [], {}
    for number in range(pairs):
        one = runs.plain("resnet", *options, recording=recording)
        other, report = runs.profiled("resnet", *options, recording=recording)
        # What follows the queue: the last steps, as many of both.
        seen = report["run"]["steps"]["seen"]
        last = min(200, steps - seen - 2)
        late = None
        if last >= 10:
            late = runs.percent(runs.median(other.steps_ns[-last:]), runs.median(one.steps_ns[-last:]))
            after.append(late)
        plain.append(one.total_ns)
        under.append(other.total_ns)
        for phase, value in report["run"]["overhead"]["slowdown"].items():
            phases.setdefault(phase, []).append(value)
        runs.emit("pair", f"pair {number + 1}: {one.total_ns / 1e9:.2f} s plain, {other.total_ns / 1e9:.2f} s under Gable",
                  {"after_percent": "the queue ended too late"}, pair=number + 1, plain_s=one.total_ns / 1e9, gable_s=other.total_ns / 1e9,
                  plain_step_ms=one.median_ns / 1e6, gable_step_ms=other.median_ns / 1e6, steps_followed=seen, after_percent=late)
    added = [runs.percent(b, a) for a, b in zip(plain, under)]
    # The queue is a number of steps, however many follow: what it adds to 500 steps of 200 ms is known from fewer.
    added_ms = runs.median([(b - a) / 1e6 for a, b in zip(plain, under)])
    runs.emit("overhead", f"{steps} steps: +{runs.median(added)} %, after the queue {runs.median(after)} %",
              {"after_percent": "the queue ended too late"}, steps=steps, pairs=pairs, added_percent=runs.median(added), added_ms=added_ms,
              of_500_steps_of_200_ms_percent=round(added_ms / 1000, 3),
              after_percent=runs.median(after), slowdown={phase: runs.median(values) for phase, values in phases.items()},
              target_added_percent=3, target_after_percent=0.5)


if __name__ == "__main__":
    runs.main({"flops": flops, "case": case, "overhead": overhead, "imagenet": imagenet})

# SPDX-License-Identifier: Apache-2.0
"""The stage peers: the same program plain, under Gable, under ncu with the same metrics, and under torch.profiler."""
import os
import sys
import time

import compare
import runs

NCU = os.environ.get("NCU", "")
STEPS = 30 if runs.REHEARSE else 200
# ncu runs every kernel several times: few steps of it are enough, and their cost is taken by the step.
NCU_STEPS = 2
NCU_LAUNCHES = 2000


def cases(name):
    if name == "resnet":
        return ("resnet", "--mode", "train", "--batch", 2 if runs.REHEARSE else 32)
    if name == "block":
        return ("block", "--mode", "train", "--batch", 2)
    return ("gpt", "--batch", 1)


def metrics_of(report):
    return sorted({name for row in report["kernels"] for name in row["counters"]})


def ncu_report(program, metrics, cache):
    """What ncu counted, as a report."""
    csv, report = runs.path_of("ncu.csv"), runs.path_of("ncu.json")
    output = runs.run([NCU, "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none", "--cache-control", cache,
                       "--launch-count", str(NCU_LAUNCHES), "--metrics", ",".join(metrics), *program])
    with open(csv, "w", encoding="utf-8") as file:
        file.write(output)
    runs.run([runs.GABLE, "import", "--ncu", csv, "-o", report])
    return runs.read(report)


def against_ncu(program, report, **fields):
    ours = compare.by_kernel(report)
    for cache in ("none", "all"):
        found = compare.counters(ours, compare.by_kernel(ncu_report(program, metrics_of(report), cache)))
        ratio = found["dram_ratio_median"]
        runs.emit("counters", f"{found['sass_equal']} of {found['sass_compared']} SASS counts equal; DRAM / ncu's {ratio and round(ratio, 4)}",
                  {name: "no kernel has both" for name in found}, cache_control=cache, different_text=str(found.pop("different")), **found, **fields)


def program(name, *command):
    """Kernels of known work, without PyTorch."""
    report = runs.path_of("program.json")
    playback = ["--playback", os.environ["GABLE_PLAYBACK"]] if runs.REHEARSE else []
    walls = []
    for started in (command, [runs.GABLE, "profile", "-q", *playback, "--step-range", "^step$", "-o", report, "--", *command]):
        began = time.perf_counter()
        runs.run(started)
        walls.append(time.perf_counter() - began)
    found = runs.read(report)
    fields, unknown = runs.summary(found)
    runs.emit("gable", f"{fields['kernels']} kernels; {walls[0]:.2f} s plain, {walls[1]:.2f} s under Gable, starts included", unknown,
              program=name, plain_s=walls[0], gable_s=walls[1], **fields)
    if NCU and not runs.REHEARSE:
        against_ncu(command, found, program=name)


def added(name):
    """Wall time from the first step on: plain, Gable, torch.profiler, ncu."""
    case = cases(name)
    recording, _ = runs.playback_gpu(*case)
    trace = runs.path_of("trace.json")
    plain = runs.plain(*case, "--steps", STEPS, recording=recording)
    under, report = runs.profiled(*case, "--steps", STEPS, recording=recording, gable=("--active", "3"))
    torch = runs.plain(*case, "--steps", STEPS, "--trace", trace, recording=recording)
    reasons = {"ncu_added_ms_a_step": "there is no ncu here", "share_of_ncu": "there is no ncu here"}
    fields = {"program": name, "steps": STEPS, "plain_step_ms": plain.median_ns / 1e6,
              "gable_added_percent": runs.percent(under.total_ns, plain.total_ns),
              "torch_profiler_added_percent": runs.percent(torch.total_ns, plain.total_ns),
              "gable_added_ms": (under.total_ns - plain.total_ns) / 1e6, "ncu_added_ms_a_step": None, "share_of_ncu": None}
    if NCU and not runs.REHEARSE:
        metrics = ",".join(metrics_of(report))
        runs.run([NCU, "--csv", "--clock-control", "none", "--metrics", metrics,
                  *runs.workload(*case, "--steps", NCU_STEPS, "--times", runs.path_of("ncu-times.json"))])
        ncu = runs.Timed(runs.path_of("ncu-times.json"), "")
        per_step = (ncu.total_ns - NCU_STEPS * plain.median_ns) / NCU_STEPS / 1e6
        measured = sum(report["run"]["steps"][kind] for kind in ("hw", "flops", "time"))
        fields["ncu_added_ms_a_step"] = per_step
        fields["share_of_ncu"] = fields["gable_added_ms"] / measured / per_step if measured and per_step > 0 else None
    runs.emit("added", f"{name}: Gable +{fields['gable_added_percent']} %, torch.profiler +{fields['torch_profiler_added_percent']} %, "
              f"share of ncu's {fields['share_of_ncu'] and round(fields['share_of_ncu'], 4)}", reasons, target_share_of_ncu=0.05, **fields)


def times(name):
    """Kernel times beside torch.profiler's, which writes no kernels on a CPU."""
    case = cases(name)
    recording, _ = runs.playback_gpu(*case)
    _, report = runs.profiled(*case, "--steps", STEPS, recording=recording)
    trace = runs.path_of("trace.json")
    runs.plain(*case, "--steps", 20, "--trace", trace, recording=recording)
    found = compare.times(compare.by_kernel(report), compare.trace_kernels(trace))
    why = "the trace has no such kernels" + (", as PyTorch runs on the CPU here" if runs.REHEARSE else "")
    ratio = found["ratio_median"]
    runs.emit("times", f"{name}: {found['kernels']} kernels in both, Gable's / torch.profiler's {ratio and round(ratio, 4)}",
              {field: why for field in found}, program=name, **found)


def counters(name):
    if not NCU:
        runs.skip("there is no ncu here")
    if runs.REHEARSE:
        runs.skip("ncu needs a real GPU")
    case = cases(name)
    _, report = runs.profiled(*case, "--steps", STEPS)
    against_ncu(runs.workload(*case, "--steps", NCU_STEPS), report, program=name)


if __name__ == "__main__":
    if not sys.argv[1:]:
        raise SystemExit("write program NAME COMMAND, added NAME, times NAME or counters NAME")
    runs.main({"program": program, "added": added, "times": times, "counters": counters})

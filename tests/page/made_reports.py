# SPDX-License-Identifier: Apache-2.0
"""Reports with numbers chosen so that one knows where the page must show them. None was measured: they say playback."""
COMPUTE, DRAM, L2 = 100e12, 2e12, 8e12  # FLOP/s, byte/s; the ridge point is at 50 FLOP/byte
LATENCY = 4000.0


def roof(fraction=None, bound="unknown", ceiling=None, level=None, compute=None, memory=None):
    return {"fraction": fraction, "bound": bound, "ceiling": ceiling, "level": level,
            "source": None if ceiling is None else "theoretical", "compute_ns": compute, "memory_ns": memory}


def work(flops, dram, time, l2=None, launches=1, name_of_type="fp32"):
    """The fields that rows of layers and kernels share; `flops`, `dram` of one launch, `time` of one in ns."""
    known = flops is not None and dram is not None
    compute = None if flops is None else flops / COMPUTE * 1e9
    memory = None if dram is None else dram / DRAM * 1e9
    least = max(compute, memory) if known else None
    memory_binds = known and memory >= compute
    over = lambda top, bottom: None if top is None or not bottom else top / bottom
    types = {"fp64": 0, "fp32": 0, "fp16": 0, "tensor": {}, "total": flops}
    if flops is None:
        types.update(fp64=None, fp32=None, fp16=None)
    elif name_of_type.endswith("_tensor"):
        types["tensor"] = {name_of_type[:-7]: flops}
    else:
        types[name_of_type] = flops
    return {"launches": launches, "flops": types, "ops": {}, "time_source": "time",
            "bytes": {"dram": dram, "dram_read": dram, "dram_write": None if dram is None else 0, "l2": l2, "l1": None},
            "intensity": {"dram": over(flops, dram), "l2": over(flops, l2), "l1": None},
            "flops_per_s": None if flops is None else flops / time * 1e9, "bytes_per_s": None if dram is None else dram / time * 1e9,
            "roof": roof(least / time, "memory" if memory_binds else "compute", "dram" if memory_binds else name_of_type,
                         "dram" if memory_binds else None, compute, memory) if known else roof(),
            "saving_ns": max(0, time - least) * launches if known else None}


def layer(id, parent, path, time=None, direction="none", **more):
    return {"id": id, "parent": parent, "path": path, "dotted": "", "direction": direction, "device": 0, "depth": len(path), "calls": 1,
            "launches": None, "time_ns": {"self": None, "total": time, "busy": time}, "time_source": "time", "cpu_ns": None, "span_ns": time,
            "sync_ns": 0, "flops": {"fp64": None, "fp32": None, "fp16": None, "tensor": {}, "total": None}, "ops": {},
            "bytes": {"dram": None, "dram_read": None, "dram_write": None, "l2": None, "l1": None},
            "intensity": {"dram": None, "l2": None, "l1": None}, "flops_per_s": None, "bytes_per_s": None, "roof": roof(), "saving_ns": None,
            "time_share": None, "coverage": {"time": 1, "flops": None, "bytes": None}, **more}


def memory(peak=8e9, layer_id=None, name="aten::mm"):
    """Rises to its peak in the middle of 100 operators; half of it is explained."""
    points = [{"at": at, "layer": layer_id, "operator": name if at else None, "bytes": peak * (0.5 + (at if at < 50 else 100 - at) / 100)}
              for at in range(101)]
    held = [{"for": "activations", "layer": layer_id, "path": ["Net", str(i), "conv"], "bytes": peak / 8, "tensors": 2} for i in range(3)]
    held.append({"for": "optimizer_state", "layer": None, "path": [], "bytes": peak / 8, "tensors": 1})
    return {"device": 0, "source": "allocator", "begin": points[0], "peak": points[50], "end": points[-1], "allocator_peak_bytes": 2 * peak,
            "reserved_bytes": 3 * peak, "unexplained_bytes": peak / 2, "timeline": points, "held": held}


def kernel(layer_id, name, flops, dram, time, direction="none", launches=1, l2=None, type="fp32", **more):
    done = work(flops, dram, time, l2, launches, type)
    return {"layer": layer_id, "direction": direction, "device": 0, "name": name, "symbol": name, "place": None, "grid": [8, 1, 1], "block": [128, 1, 1],
            "cluster": [1, 1, 1], "dynamic_shared": 0,
            "time_ns": {"mean": time, "median": time, "min": time, "max": time, "stddev": 0, "total": time * launches}, **done,
            "samples": {"hw": 3, "flops": 3, "time": 3}, "counters": {}, "flags": [], **more}


def report(layers, kernels, **run):
    return {"gable": {"schema": 2, "version": "made"},
            "run": {"command": ["python", "main.py"], "hostname": "node1", "pid": 4711, "rank": None, "started_at": "2026-01-02T03:04:05Z",
                    "wall_time_s": 10, "source": "playback", "unit": "step", "scope": "kernel", "complete": True,
                    "total": {"flops": None, "bytes_dram": None, "gpu_time_ns": None, "flops_per_s": None, "basis": "extrapolated", "basis_note": "made up"},
                    "steps": {"seen": 10, "hw": 3, "flops": 3, "time": 3, "classes": 1}, "ranks": [], "notes": [], **run},
            "step": {"wall_ns": {"mean": 2e6, "stddev": 0}, "host_ns": {"mean": 1.9e6, "stddev": 0}, "busy_ns": 1.5e6, "idle_ns": 5e5, "copy_ns": 1e5, "sync_ns": 0,
                     "launch_latency_ns": LATENCY, "mfu": None, "hfu": None, "model_flops": None},
            "devices": [{"id": 0, "name": "Made-up GPU", "chip": "GX000", "compute_capability": "9.0", "sm_count": 100}],
            "ceilings": [{"device": 0, "kind": "compute", "name": "fp32", "value": COMPUTE, "source": "theoretical: made up"},
                         {"device": 0, "kind": "compute", "name": "bf16_tensor", "value": 4 * COMPUTE, "source": "theoretical: made up"},
                         {"device": 0, "kind": "memory", "name": "dram", "value": DRAM, "source": "theoretical: made up"},
                         {"device": 0, "kind": "memory", "name": "l2", "value": L2, "source": "measured: made up"}],
            "layers": layers, "kernels": kernels,
            "copies": [{"kind": "host_to_device", "direction": "none", "device": 0, "layer": None, "count": 2, "bytes": 4096, "time_ns": 1e5}]}


def net(scale=1.0):
    """A layer that memory binds, one that compute binds (forward and backward), one without a FLOP, and one that is unknown."""
    layers = [layer(0, None, [], 1e6), layer(1, 0, ["Net"], 1e6),
              layer(2, 1, ["Net", "relu"], 1e5, "forward"), layer(3, 1, ["Net", "conv"], 4e5, "forward"),
              layer(4, 1, ["Net", "conv"], 4e5, "backward"), layer(5, 1, ["Net", "cast"], 5e4, "forward"),
              layer(6, 1, ["Net", "secret"], 5e4, "forward")]
    kernels = [kernel(2, "relu_kernel", 1e8 * scale, 1e8 * scale, 1e5 * scale, "forward", l2=2e8 * scale),
               kernel(3, "conv_kernel", 1e10 * scale, 5e7 * scale, 4e5 * scale, "forward", l2=4e8 * scale),
               kernel(4, "conv_grad_kernel", 2e10 * scale, 1e8 * scale, 4e5 * scale, "backward"),
               kernel(5, "cast_kernel", 0, 8e7 * scale, 5e4 * scale, "forward"),
               kernel(6, "secret_kernel", None, 1e6 * scale, 5e4 * scale, "forward")]
    return report(layers, kernels)

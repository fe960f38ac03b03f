# SPDX-License-Identifier: Apache-2.0
"""tests/gpu/truth.jsonl: what a GPU must count of gable_truth's kernels, worked out here from their description and not from
their PTX, so that one checks the other: truth_recording.py >tests/gpu/truth.jsonl"""
import json
import math

GRID = 264
SASS = "smsp__sass_thread_inst_executed_op_%s_pred_on.sum"
CHAIN, TURNS = 512, 200  # instructions of a turn, turns
GIB4, L2 = 4 << 30, 62914560


def kernel(name, grid, block, counts, time_ns=200000):
    return {"kernel": name, "name": name, "grid": [grid, 1, 1], "block": [block, 1, 1], "time_ns": time_ns, "counters": counts}


def compute(name, block=256, turns=TURNS, **work):
    """`work`: instructions of one thread in a turn."""
    return kernel(name, GRID, block, {SASS % op: count * turns * GRID * block for op, count in work.items()})


def sectors(read, written, level2):
    return {"dram__sectors_read.sum": read // 32, "dram__sectors_write.sum": written // 32,
            "lts__t_sectors_srcunit_tex.sum": level2 // 32, "l1tex__t_bytes.sum": level2}


def tensor(name, metric, shape, block, products, accumulators, adds):
    """`products` of one warp or warp group in a turn; the accumulators are added up at the end."""
    threads = GRID * block
    group = 128 if "wgmma" in name else 32
    counts = {metric: threads // group * products * TURNS * 2 * math.prod(shape)}
    if adds:
        counts[SASS % adds] = threads * (accumulators - 1)
    return kernel(name, GRID, block, counts)


def kernels():
    for op in ("fadd", "fmul", "ffma", "dadd", "dmul", "dfma"):
        yield compute("truth_" + op, **{op: CHAIN})
    yield compute("truth_predicated", ffma=CHAIN / 2)
    yield compute("truth_divergent", ffma=CHAIN / 4, fadd=CHAIN * 3 / 4)
    yield compute("truth_integer")
    yield kernel("truth_constants", GRID, 256, {SASS % "ffma": CHAIN * 20 * GRID * 256, SASS % "hfma": 7 * GRID * 256})  # every other of 14 constants
    yield compute("truth_hadd2", hadd=CHAIN)
    yield compute("truth_hmul2", hmul=CHAIN / 2, hfma=CHAIN / 2)  # as the compiler does for sm_90
    yield compute("truth_hfma2", hfma=CHAIN)
    yield compute("truth_bf16_fma2", hfma=CHAIN)
    for i in (1, 2, 3):
        # The first copy finds what the step before left in the L2.
        yield kernel(f"truth_copy_{i}", 2048, 512, sectors(GIB4 - (1 << 26 if i == 1 else 0), GIB4, 2 * GIB4))
    yield kernel("truth_read", 2048, 512, sectors(GIB4, 1 << 25, GIB4))
    yield kernel("truth_write", 2048, 512, sectors(0, GIB4 - (1 << 25), GIB4))
    yield kernel("truth_strided", 2048, 512, sectors(GIB4 // 2, 1 << 25, GIB4 // 4))
    yield kernel("truth_l2", 2048, 512, sectors(L2 // 4, 0, 64 * (L2 // 4)))
    yield kernel("truth_shared", 2048, 512, sectors(1 << 20, 0, 1 << 20))
    for name, ns in (("60us", 60000), ("300us", 300000), ("3ms", 3000000), ("20ms", 20000000)):
        yield kernel("truth_time_" + name, GRID, 256, {}, ns)
    wide = {"tf32": (8, "tf32_dst_fp32"), "bf16": (16, "bf16_dst_fp32"), "fp16": (16, "fp16"), "fp8": (32, "fp8")}
    for kind, (k, source) in wide.items():
        metric = f"sm__ops_path_tensor_{'op_hgmma_' if kind == 'fp16' else ''}src_{source}.sum"
        yield tensor(f"gable_roof_{kind}_tensor_wgmma", metric, (64, 256, k), 128, 8, 128, "fadd")
    half = "sm__ops_path_tensor_op_hmma_src_fp16_dst_fp32.sum"
    small = (("tf32", "m16n8k8", (16, 8, 8), "sm__ops_path_tensor_src_tf32_dst_fp32.sum", 4, "fadd"),
             ("bf16", "m16n8k16", (16, 8, 16), "sm__ops_path_tensor_src_bf16_dst_fp32.sum", 4, "fadd"),
             ("fp16", "m16n8k8", (16, 8, 8), half, 4, "fadd"), ("fp16", "m16n8k16", (16, 8, 16), half, 4, "fadd"),
             ("fp64", "m8n8k4", (8, 8, 4), "sm__ops_path_tensor_src_fp64.sum", 2, "dadd"),
             ("fp64", "m16n8k16", (16, 8, 16), "sm__ops_path_tensor_src_fp64.sum", 4, "dadd"))
    for kind, name, shape, metric, each, adds in small:
        yield tensor(f"gable_roof_{kind}_tensor_{name}", metric, shape, 256, 32, 8 * each, adds)
    for name, block in (("m8n8k16", 256), ("m16n8k32", 256), ("wgmma", 128)):  # no metric on this chip
        yield kernel("gable_roof_int8_tensor_" + name, GRID, block, {})


def text():
    lines = [{"gable_recording": 1, "origin": "generated", "note": "what the kernels of tests/gpu/truth must count; no GPU was involved"},
             {"device": 0, "name": "Playback H200", "chip": "GH100", "compute_capability": [9, 0], "sm_count": 132,
              "sm_clock_max_hz": 1980000000, "memory_clock_max_hz": 3201000000, "memory_bus_bits": 6144,
              "memory_bytes": 150754820096, "l2_bytes": L2}]
    return "".join(json.dumps(line) + "\n" for line in [*lines, *kernels()])


if __name__ == "__main__":
    print(text(), end="")

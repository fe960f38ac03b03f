# SPDX-License-Identifier: Apache-2.0
"""What each operation of ResNet-50 launches on an H200 with TF32 off, and what the GPU would count: a closed formula
with integers only, so that every machine writes the same bytes.

FLOPs       convolutions and the fully connected layer: exactly one FFMA for each multiply-accumulate of the layer's
            definition (no padding of tiles, no Winograd; a GEMM starts from its bias). Everything else counts its own.
DRAM bytes  compulsory traffic: every input and weight is read once, every output is written once, in FP32.
L2, L1      what the blocks of a tiled implicit GEMM ask for; a window's overlap is served by L1.
Time        max(FLOPs / (0.7 peak x fill), bytes / (0.8 bandwidth)) + 2 us; fill is the share of SMs that the last wave
            of blocks leaves busy on average, so that too few blocks give a layer held by latency.
"""

import dataclasses

from resnet50_model import BATCH

SM_COUNT = 132
DEVICE = {
    "device": 0, "name": "NVIDIA H200", "chip": "GH100", "compute_capability": [9, 0], "sm_count": SM_COUNT,
    "sm_clock_max_hz": 1980000000, "memory_clock_max_hz": 3201000000, "memory_bus_bits": 6144,
    "memory_bytes": 150754820096, "l2_bytes": 62914560,
}
PEAK_FLOPS = SM_COUNT * 128 * 2 * DEVICE["sm_clock_max_hz"]  # per second, FP32
BANDWIDTH = DEVICE["memory_clock_max_hz"] * 2 * DEVICE["memory_bus_bits"] // 8  # byte per second
LAUNCH_NS = 2000

FADD, FMUL, FFMA, HFMA = (f"smsp__sass_thread_inst_executed_op_{op}_pred_on.sum" for op in ("fadd", "fmul", "ffma", "hfma"))
DRAM_READ, DRAM_WRITE = "dram__sectors_read.sum", "dram__sectors_write.sum"
L2_SECTORS, L1_BYTES = "lts__t_sectors_srcunit_tex.sum", "l1tex__t_bytes.sum"

_CONV = ("sm80_xmma_{pass_}_implicit_gemm_indexed_f32f32_f32f32_f32_nchwkcrs_nchw_tilesize{m}x{n}x8_stage3_"
         "warpsize2x2x1_g1_ffma_aligna4_alignc4_execute_kernel_cudnn")
_VECTOR = "_ZN2at6native29vectorized_elementwise_kernelILi"
_MULTI = "_ZN2at6native25multi_tensor_apply_kernelINS0_18TensorListMetadataILi"
SYMBOLS = {
    "fc_fprop": "ampere_sgemm_32x32_sliced1x4_tn", "fc_dgrad": "ampere_sgemm_32x128_nn",
    "fc_wgrad": "ampere_sgemm_128x64_nt",
    "bn": "_ZN5cudnn24bn_fw_tr_1C11_singlereadIfLi512ELb1ELi1ELi2ELi20EEEv17cudnnTensorStructPKT_S1_PS2_S4_S4_S2_S2_"
          "S5_S5_S5_S5_S2_S2_",
    "bn_backward": "_ZN5cudnn21bn_bw_1C11_singlereadIfLi512ELb1ELi1ELi2ELi0EEEvT_S1_S1_S1_17cudnnTensorStructPKS1_S2_"
                   "S4_S2_PS1_S4_S5_S5_S4_S4_S1_",
    "bn_count": _VECTOR + "2ENS0_21CUDAFunctorOnSelf_addIlEESt5arrayIPcLm2EEEEviT0_T1_",
    "relu": _VECTOR + "4EZZZNS0_12_GLOBAL__N_119launch_clamp_scalarERNS_18TensorIteratorBaseEN3c106ScalarES6_NS0_6detail"
            "11ClampLimitsEENKUlvE_clEvENKUlvE_clEvEUlfE_St5arrayIPcLm2EEEEviT0_T1_",
    "relu_backward": _VECTOR + "4EZNS0_12_GLOBAL__N_121threshold_kernel_implIfEEvRNS_18TensorIteratorBaseET_S6_EUlffE_"
                     "St5arrayIPcLm3EEEEviT0_T1_",
    "add": _VECTOR + "4ENS0_15CUDAFunctor_addIfEESt5arrayIPcLm3EEEEviT0_T1_",
    "maxpool": "_ZN2at6native12_GLOBAL__N_121max_pool_forward_nchwIfEEviPKT_llliiiiiiiiiiPS3_Pl",
    "maxpool_backward": "_ZN2at6native12_GLOBAL__N_122max_pool_backward_nchwIffEEvPKT_PKlillliiiiiiiiiiPS3_",
    "avgpool": "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfNS0_7MeanOpsIffffEEfLi4ELi4ELi4EEEEEvT1_",
    "sum": "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfNS0_14func_wrapper_tIfEEfLi4ELi4ELi4EEEEEvT1_",
    "avgpool_backward": _VECTOR + "4ENS0_13BUnaryFunctorIfffNS0_15binary_internal10MulFunctorIfEEEESt5arrayIPcLm2EEEEvi"
                        "T0_T1_",
    "softmax": "_ZN12_GLOBAL__N_120softmax_warp_forwardILi10EfffLb1ELb0EEEvPT2_PKT0_iiiPKbib",
    "softmax_backward": "_ZN12_GLOBAL__N_121softmax_warp_backwardILi10EfffLb1ELb0EEEvPT2_PKT0_S5_iiiPKb",
    "nll": "_ZN2at6native12_GLOBAL__N_138nll_loss_forward_reduce_cuda_kernel_2dIflEEvPT_S4_PKS3_PKT0_S6_bllll",
    "nll_backward": "_ZN2at6native12_GLOBAL__N_139nll_loss_backward_reduce_cuda_kernel_2dIflEEvPT_PKS3_PKT0_S6_S6_biill",
    "sgd_list": _MULTI + "2EEENS0_24BinaryOpListAlphaFunctorIfLi2ELi2ELi0EEEJfEEEvT_T0_DpT1_",
    "sgd_scalar": _MULTI + "1EEENS0_21BinaryOpScalarFunctorIfLi1ELi1ELi0EEEJfEEEvT_T0_DpT1_",
    "zero": _MULTI + "1EEENS0_11ZeroFunctorIfLi1ELi1ELi0EEEJEEEvT_T0_DpT1_",
}


def ceil_div(a, b):
    return -(-a // b)


@dataclasses.dataclass(frozen=True)
class Kernel:
    id: str
    name: str
    grid: tuple
    block: int
    time_ns: int
    counters: tuple  # pairs of metric and value, zeros left out

    def line(self):
        return {"kernel": self.id, "name": self.name, "grid": list(self.grid), "block": [self.block, 1, 1],
                "time_ns": self.time_ns, "counters": dict(self.counters)}


def make(id_, name, grid, block, read, write, fadd=0, fmul=0, ffma=0, hfma=0, l2=None, l1=None, slower=(1, 1)):
    """read and write: bytes of DRAM; l2, l1: bytes asked of that level, never less than what the level below moves."""
    read, write = ceil_div(read, 32) * 32, ceil_div(write, 32) * 32
    l2 = ceil_div(max(l2 or 0, read + write), 32) * 32
    l1 = max(l1 or 0, l2)
    blocks = grid[0] * grid[1] * grid[2]
    waves = ceil_div(blocks, SM_COUNT)
    flops = fadd + fmul + 2 * ffma
    compute_ns = ceil_div(flops * 10**10 * waves * SM_COUNT, 7 * PEAK_FLOPS * blocks)
    memory_ns = ceil_div((read + write) * 10**10, 8 * BANDWIDTH)
    time_ns = max(compute_ns, memory_ns) * slower[0] // slower[1] + LAUNCH_NS
    counters = ((FADD, fadd), (FMUL, fmul), (FFMA, ffma), (HFMA, hfma), (DRAM_READ, read // 32),
                (DRAM_WRITE, write // 32), (L2_SECTORS, l2 // 32), (L1_BYTES, l1))
    return Kernel(id_, name, grid, block, time_ns, tuple(c for c in counters if c[1]))


def _tiles(m, n, in_hw):
    """Tile of an implicit GEMM. Deep layers get the widest tile although they have few rows: too few blocks."""
    if in_hw <= 7:
        return 256, 128
    return (128, 64) if n <= 64 else (128, 128)


def _gemm(id_, name, op, m, n, k, tile, reads, writes, ffma, window, splits=1, slower=(1, 1)):
    grid = (ceil_div(m, tile[0]), ceil_div(n, tile[1]), splits)
    asked = grid[0] * grid[1] * (tile[0] + tile[1]) * k * 4 + splits * writes
    return make(id_, name, grid, 256 if tile[0] * tile[1] > 8192 else 128, reads, writes, ffma=ffma,
                l2=asked // window + writes, l1=asked, slower=slower)


def conv_kernel(op, pass_, tile=None, slower=(1, 1), suffix=""):
    """fprop, dgrad or wgrad of a convolution."""
    inputs, outputs, weights = 4 * op.in_elements, 4 * op.out_elements, 4 * op.weights
    window = op.size**2
    splits = 1
    if pass_ == "fprop":
        m, n, k, reads, writes = BATCH * op.out_hw**2, op.out_channels, op.in_channels * window, inputs + weights, outputs
    elif pass_ == "dgrad":
        m, n, k, reads, writes = BATCH * op.in_hw**2, op.in_channels, op.out_channels * window, outputs + weights, inputs
    else:
        m, n, k, reads, writes = op.out_channels, op.in_channels * window, BATCH * op.out_hw**2, inputs + outputs, weights
    tile = tile or ((128, 128) if pass_ == "wgrad" else _tiles(m, n, op.in_hw))
    if pass_ == "wgrad":
        splits = max(1, 2 * SM_COUNT // (ceil_div(m, tile[0]) * ceil_div(n, tile[1])))
    id_ = f"{pass_}_{op.in_channels}_{op.out_channels}_{op.size}x{op.size}s{op.stride}_{op.in_hw}{suffix}"
    name = _CONV.format(pass_=pass_, m=tile[0], n=tile[1])
    return _gemm(id_, name, op, m, n, k, tile, reads, writes, op.macs, op.size, splits, slower)


def fc_kernel(op, pass_):
    inputs, outputs = 4 * BATCH * op.in_features, 4 * BATCH * op.out_features
    weights = 4 * op.in_features * op.out_features
    if pass_ == "fprop":
        m, n, k, reads, writes, tile = BATCH, op.out_features, op.in_features, inputs + weights, outputs, (32, 32)
    elif pass_ == "dgrad":
        m, n, k, reads, writes, tile = BATCH, op.in_features, op.out_features, outputs + weights, inputs, (32, 128)
    else:
        m, n, k, reads, writes, tile = op.out_features, op.in_features, BATCH, inputs + outputs, weights, (128, 64)
    return _gemm("fc_" + pass_, SYMBOLS["fc_" + pass_], op, m, n, k, tile, reads, writes, op.macs, 1)


def elementwise_kernels(op):
    """Forward launches of bn, relu, add, maxpool, avgpool."""
    n, out = op.in_elements, op.out_elements
    id_ = f"{op.kind}_{op.channels}_{op.in_hw}"
    name = SYMBOLS[op.kind]
    if op.kind == "bn":  # mean and variance: an add and an FMA; normalising: an FMA; then num_batches_tracked += 1
        return [make(id_, name, (op.channels, 1, 1), 512, 4 * n, 4 * out, fadd=n, ffma=2 * n),
                make("bn_count", SYMBOLS["bn_count"], (1, 1, 1), 128, 32, 32)]
    if op.kind == "relu":  # FMNMX is no floating-point operation in the counters
        return [make(id_, name, (ceil_div(n, 512), 1, 1), 128, 4 * n, 4 * out)]
    if op.kind == "add":
        return [make(id_, name, (ceil_div(n, 512), 1, 1), 128, 8 * n, 4 * out, fadd=n)]
    if op.kind == "maxpool":  # its index arithmetic moves constants with HFMA2: one for each thread, no 16-bit work
        grid = (ceil_div(out, 256), 1, 1)
        return [make(id_, name, grid, 256, 4 * n, 12 * out, hfma=grid[0] * 256)]
    return [make(id_, name, (ceil_div(out, 16), 1, 1), 512, 4 * n, 4 * out, fadd=n, fmul=out)]  # avgpool


def backward_kernels(op, first):
    """Backward launches of an operation; `first` is the network's first, whose input needs no gradient."""
    if op.kind == "conv":
        return [conv_kernel(op, p) for p in (("wgrad",) if first else ("dgrad", "wgrad"))]
    if op.kind == "fc":
        n = BATCH * op.out_features
        return [fc_kernel(op, "dgrad"), fc_kernel(op, "wgrad"),
                make("fc_bias", SYMBOLS["sum"], (ceil_div(op.out_features, 32), 1, 1), 512, 4 * n, 4 * op.out_features,
                     fadd=n)]
    n, out = op.in_elements, op.out_elements
    id_ = f"{op.kind}_backward_{op.channels}_{op.in_hw}"
    if op.kind == "bn":
        return [make(id_, SYMBOLS["bn_backward"], (op.channels, 1, 1), 512, 8 * n, 4 * n, fadd=n, fmul=n, ffma=3 * n)]
    if op.kind == "relu":
        return [make(id_, SYMBOLS["relu_backward"], (ceil_div(n, 512), 1, 1), 128, 8 * n, 4 * n)]
    if op.kind == "maxpool":
        return [make(id_, SYMBOLS["maxpool_backward"], (ceil_div(n, 256), 1, 1), 256, 12 * out, 4 * n, fadd=out)]
    if op.kind == "avgpool":
        return [make(id_, SYMBOLS["avgpool_backward"], (ceil_div(n, 512), 1, 1), 128, 4 * out, 4 * n, fmul=n)]
    return []  # add: its gradient passes through


def loss_kernels(classes):
    n = BATCH * classes
    return ([make("softmax", SYMBOLS["softmax"], (ceil_div(BATCH, 4), 1, 1), 128, 4 * n, 4 * n, fadd=2 * n, ffma=2 * n),
             make("nll", SYMBOLS["nll"], (1, 1, 1), 32, 4 * BATCH + 8 * BATCH, 8, fadd=BATCH, fmul=1)],
            [make("nll_backward", SYMBOLS["nll_backward"], (1, 1, 1), 32, 8 * BATCH + 8, 4 * n, fmul=BATCH),
             make("softmax_backward", SYMBOLS["softmax_backward"], (ceil_div(BATCH, 4), 1, 1), 128, 8 * n, 4 * n,
                  fadd=n, ffma=n)])


def multi_tensor_kernels(id_, symbol, elements, tensors, lists_read, lists_written, fmul=0, ffma=0):
    """One launch for every 320 chunks of 65,536 elements or `tensors` tensors, as PyTorch's foreach functions do."""
    launches, chunks, count, done = [], 0, 0, 0

    def flush():
        nonlocal chunks, count, done
        if chunks:
            launches.append(make(f"{id_}_{len(launches)}", symbol, (chunks, 1, 1), 512, 4 * lists_read * done,
                                 4 * lists_written * done, fmul=fmul * done, ffma=ffma * done))
        chunks = count = done = 0

    for size in elements:
        left = size
        while left:
            take = min(left, 65536)
            left, chunks, done = left - take, chunks + 1, done + take
            if chunks == 320:
                flush()
        count += 1
        if count == tensors:
            flush()
    flush()
    return launches

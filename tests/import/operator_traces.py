# SPDX-License-Identifier: Apache-2.0
"""What PyTorch's profiler writes of operators, recorded without a GPU, and what PyTorch's own counter says of their FLOPs.
tests/data/import/torch_operators.json is made with `python operator_traces.py --write` where PyTorch is installed; tests read it
and add a kernel to each operator that calls no other."""
import json
import pathlib
import sys
import tempfile

FILE = pathlib.Path(__file__).resolve().parents[1] / "data" / "import" / "torch_operators.json"
KEPT = ("External id", "Sequence number", "Fwd thread id", "Input Dims", "Input type", "Concrete Inputs")


def cases():
    import torch
    from torch.nn import functional as F
    from torch.nn.attention import SDPBackend, sdpa_kernel

    def plain(*sizes):
        return torch.zeros(*sizes)

    def trained(*sizes):
        return torch.zeros(*sizes, requires_grad=True)

    def attention(*more, key_heads=4, value=8, **keywords):
        F.scaled_dot_product_attention(trained(2, 4, 16, 8), trained(2, key_heads, 12, 8), trained(2, key_heads, 12, value), *more,
                                       **keywords).sum().backward()

    def math_attention():
        with sdpa_kernel(SDPBackend.MATH):
            attention(value=6)

    def autocast():
        with torch.autocast("cpu", dtype=torch.bfloat16):
            F.conv2d(plain(2, 3, 9, 9), plain(4, 3, 3, 3))
            F.linear(plain(4, 8), plain(6, 8))

    def scaled():
        a, b = plain(32, 64).to(torch.float8_e4m3fn), plain(16, 64).to(torch.float8_e4m3fn).t()
        torch._scaled_mm(a, b, scale_a=torch.tensor(1.), scale_b=torch.tensor(1.), out_dtype=torch.bfloat16)

    def encoder():
        with torch.no_grad():
            torch.nn.TransformerEncoderLayer(32, 4, 64, batch_first=True).eval()(plain(2, 10, 32))

    def lstm():
        with torch.backends.mkldnn.flags(enabled=False):
            torch.nn.LSTM(5, 7, 2, bidirectional=True)(trained(3, 2, 5))[0].sum().backward()

    return {
        "conv1d": lambda: F.conv1d(trained(3, 4, 50), trained(6, 4, 5), stride=2).sum().backward(),
        "conv2d grouped": lambda: F.conv2d(trained(2, 6, 17, 19), trained(8, 3, 3, 5), trained(8), stride=(2, 3), padding=(1, 2),
                                           dilation=(1, 2), groups=2).sum().backward(),
        "conv2d depthwise": lambda: F.conv2d(trained(2, 8, 11, 11), trained(8, 1, 3, 3), padding=1, groups=8).sum().backward(),
        "conv2d of an input without gradient": lambda: F.conv2d(plain(2, 3, 9, 9), trained(4, 3, 3, 3)).sum().backward(),
        "conv2d unbatched": lambda: F.conv2d(plain(3, 9, 9), plain(4, 3, 3, 3)),
        "conv2d same": lambda: F.conv2d(plain(2, 3, 9, 9), plain(4, 3, 4, 4), padding="same"),
        "conv3d": lambda: F.conv3d(trained(1, 2, 7, 8, 9), trained(4, 2, 3, 3, 3), padding=1).sum().backward(),
        "conv_transpose2d grouped": lambda: F.conv_transpose2d(trained(2, 6, 7, 9), trained(6, 4, 3, 5), trained(8), stride=(2, 3), padding=(1, 2),
                                                               output_padding=(1, 0), groups=2).sum().backward(),
        "linear": lambda: F.linear(trained(2, 5, 7), trained(11, 7), trained(11)).sum().backward(),
        "matmul": lambda: (trained(2, 3, 5, 7) @ trained(2, 3, 7, 11)).sum().backward(),
        "einsum": lambda: torch.einsum("bij,bjk->bik", plain(2, 3, 5), plain(2, 5, 7)),
        "vectors": lambda: (torch.mv(plain(5, 7), plain(7)), torch.addmv(plain(5), plain(5, 7), plain(7)), torch.dot(plain(9), plain(9))),
        "baddbmm": lambda: torch.baddbmm(plain(2, 3, 7), plain(2, 3, 5), plain(2, 5, 7)),
        "addbmm": lambda: torch.addbmm(plain(3, 7), plain(2, 3, 5), plain(2, 5, 7)),
        "int8": lambda: torch._int_mm(torch.zeros(32, 16, dtype=torch.int8), torch.zeros(16, 24, dtype=torch.int8)),
        "fp8": scaled,
        "grouped": lambda: torch._grouped_mm(plain(32, 16).bfloat16(), plain(4, 16, 24).bfloat16(),
                                             offs=torch.tensor([8, 16, 20, 32], dtype=torch.int32)),
        "gru": lambda: torch.nn.GRU(5, 7)(trained(3, 2, 5))[0].sum().backward(),
        "lstm": lstm,
        "attention": attention,
        "attention with a mask": lambda: attention(plain(16, 12)),
        "attention with shared heads": lambda: attention(key_heads=2, enable_gqa=True),
        "attention of matrix products": math_attention,
        "encoder": encoder,
        "autocast": autocast,
        "no product": lambda: F.interpolate(F.relu(plain(1, 2, 4, 4)), scale_factor=2, mode="bilinear"),
    }


def matters(event, events):
    """It multiplies, or calls what does."""
    words = ("mm", "mv", "dot", "conv", "linear", "matmul", "attention", "einsum")
    start, end = event["ts"], event["ts"] + event["dur"]
    return any(other["tid"] == event["tid"] and start <= other["ts"] and other["ts"] + other["dur"] <= end
               and any(word in other["name"] for word in words) for other in events)


def record():
    import torch
    from torch.profiler import ProfilerActivity, profile
    from torch.utils.flop_counter import FlopCounterMode
    out = {"torch": torch.__version__, "cases": {}}
    for name, run in cases().items():
        with FlopCounterMode(display=False) as counter:
            run()
        with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as profiler:
            run()
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            profiler.export_chrome_trace(file.name)
            events = json.load(open(file.name))["traceEvents"]
        events = [event for event in events if event.get("cat") == "cpu_op"]
        events = [event for event in events if name == "no product" or matters(event, events)]
        threads = {tid: i for i, tid in enumerate(dict.fromkeys(event["tid"] for event in events))}
        first = min(event["ts"] for event in events)
        out["cases"][name] = {
            "counter": counter.get_total_flops(),
            "operators": [[event["name"], threads[event["tid"]], round(event["ts"] - first, 3), event["dur"],
                           {key: event["args"][key] for key in KEPT if key in event["args"]}] for event in events]}
    return out


def trace_of(operators):
    """A trace with a kernel of each operator that calls no other."""
    events = []
    end = max(start + duration for _, _, start, duration, _ in operators)
    for i, (name, thread, start, duration, args) in enumerate(operators):
        events.append({"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": thread, "ts": start, "dur": duration, "args": args})
        calls = any(j != i and other[1] == thread and start <= other[2] and other[2] + other[3] <= start + duration
                    and (other[2:4] != [start, duration] or j > i) for j, other in enumerate(operators))
        if calls:
            continue
        events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": thread, "ts": start, "dur": 0.001,
                       "args": {"correlation": i + 1}})
        events.append({"ph": "X", "cat": "kernel", "name": "kernel of " + name, "pid": 0, "tid": 7, "ts": end + i, "dur": 0.5,
                       "args": {"device": 0, "stream": 7, "correlation": i + 1, "grid": [1, 1, 1], "block": [32, 1, 1]}})
    return {"traceEvents": events}


if __name__ == "__main__" and sys.argv[1:] == ["--write"]:
    recorded = record()
    rows = [f'{json.dumps(name)}: {{"counter": {case["counter"]}, "operators": [\n'
            + ",\n".join(json.dumps(row, separators=(",", ":")) for row in case["operators"]) + "]}"
            for name, case in recorded["cases"].items()]
    FILE.write_text(f'{{"torch": "{recorded["torch"]}", "cases": {{\n' + ",\n".join(rows) + "\n}}\n")

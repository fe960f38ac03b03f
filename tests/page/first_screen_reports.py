# SPDX-License-Identifier: Apache-2.0
"""A report whose answer is known: which layers a card must name, and how much of the step they could give back."""
import made_reports


def blocks():
    """A net of three equal blocks that compute holds, and one layer that memory holds; the steps were replayed."""
    layers = [made_reports.layer(0, None, [], 1.5e6), made_reports.layer(1, 0, ["Net"], 1.5e6)]
    kernels = []
    for block in range(3):
        layers.append(made_reports.layer(2 + 2 * block, 1, ["Net", str(block)], 4e5))
        layers.append(made_reports.layer(3 + 2 * block, 2 + 2 * block, ["Net", str(block), "conv"], 4e5, "forward"))
        kernels.append(made_reports.kernel(3 + 2 * block, "conv_kernel", 1e10, 5e7, 4e5, "forward"))
    layers.append(made_reports.layer(8, 1, ["Net", "relu"], 1e5, "forward"))
    kernels.append(made_reports.kernel(8, "relu_kernel", 1e8, 1e8, 1e5, "forward"))
    for row in layers[3:8:2] + layers[8:]:
        kernel = next(each for each in kernels if each["layer"] == row["id"])
        row.update({key: kernel[key] for key in ("launches", "flops", "bytes", "intensity", "flops_per_s", "bytes_per_s", "roof", "saving_ns")},
                   coverage={"time": 1, "flops": 1, "bytes": 1}, path_ns=row["time_ns"]["total"],
                   step_saving_ns={"low": kernel["saving_ns"], "high": kernel["saving_ns"]})
        kernel.update(path_ns=row["path_ns"], step_saving_ns=row["step_saving_ns"])
    report = made_reports.report(layers, kernels)
    report["step"].update(
        critical_path={"kernels_ns": 1.3e6, "communication_ns": 0, "copies_ns": 2e5, "host_ns": 5e5, "launches_ns": 0, "gaps_ns": 0, "unexplained_ns": 0},
        exposed={"compute_ns": 1.3e6, "communication_ns": 0, "copies_ns": 2e5, "idle_ns": 5e5, "saving_ns": {
            part: {"low": value, "high": value} for part, value in (("compute", 1.3e6), ("communication", 0), ("copies", 2e5), ("host", 5e5))}},
        graph={"steps": 3, "wall_ns": 2e6, "explained": 0.99, "replay_error": 0.02, "overlapped": 0, "edges": 1000, "violated_edges": 0,
               "stream_waits_known": True})
    return report

# SPDX-License-Identifier: Apache-2.0
"""The same survey on a Dask cluster: each worker surveys some jobs. Workers read the dataset's files themselves, by the same paths."""
import os
import sys

import gable_fleet
from gable_fleet import queries


class _Shipped:
    """A function by its code instead of its name, so that schedulers and workers need no Gable."""

    def __init__(self, function):
        import cloudpickle
        cloudpickle.register_pickle_by_value(gable_fleet)
        self.code = cloudpickle.dumps(function)

    def __call__(self, *values, **named):
        return self.__reduce__()[0](self.code)(*values, **named)

    def __reduce__(self):
        import cloudpickle
        return cloudpickle.loads, (self.code,)


def _surveyed(files, survey, most):
    """Runs on a worker; only there is DuckDB needed."""
    import cloudpickle
    return cloudpickle.loads(survey)(files, most, threads=1)


def survey_on(address, dataset, jobs, most, not_done):
    try:
        import distributed
    except ImportError as missing:
        raise not_done(f"{sys.executable} has no {missing.name}: run '{sys.executable} -m pip install distributed'.") from missing
    try:
        client = distributed.Client(address, timeout="15s")
    except (OSError, TimeoutError, ValueError) as problem:
        raise not_done(f"--dask: no cluster answers at {address}: {problem}.") from problem
    with client:
        workers = max(1, len(client.scheduler_info(n_workers=-1)["workers"]))
        parts = [{table: [os.path.abspath(path) for path in dataset.files(table, some)] for table in ("runs", "gpus", "steps", "layers")}
                 for some in shared_out(dataset, jobs, workers)]
        try:
            return client.gather(client.map(_Shipped(_surveyed), parts, survey=_Shipped(queries.survey).code, most=most, pure=False))
        except Exception as problem:  # whatever a worker raises
            raise not_done(f"--dask: a worker could not do its part: {type(problem).__name__}: {problem}. Workers need the packages duckdb and pyarrow, "
                           "and the dataset under the same path.") from problem


def shared_out(dataset, jobs, workers):
    """The jobs in as many parts as there are workers, or fewer; the largest first, each to the part with the least."""
    sizes = {job: sum(os.path.getsize(path) for path in dataset.files("layers", [job])) for job in jobs}
    parts = [[0, []] for _ in range(min(workers, len(jobs)))]
    for job in sorted(jobs, key=lambda job: (-sizes[job], job)):
        least = min(parts, key=lambda part: part[0])
        least[0] += sizes[job]
        least[1].append(job)
    return [some for _, some in parts]

# SPDX-License-Identifier: Apache-2.0
"""What is asked of a dataset, in DuckDB's SQL. `survey` reads some jobs' files and can run anywhere; `judge` puts the surveys together."""
import glob

import duckdb

# A rank or a node stands out if it is slower than its like by this share, and by this many of their deviations.
SLOWER, DEVIATIONS = 0.05, 4
# Deviations are robust: 1.4826 times the median distance from the median is the standard deviation of a normal distribution.
_DEVIATION = "1.4826 * median(abs({0} - {1}))"
# The same work, if a layer's FLOPs differ by less.
SAME_WORK = 0.01

# One row for each process. own_ns is what it needs by itself in a step: without waiting for others, as far as that is known of all ranks of
# its group. A group has the same layers, in the same job, on the same day; of processes that were measured again, the same queue.
# Only the newest run of a process that timed anything counts for what is lost and who is slow; all of them are its history.
_RANKS = f"""
CREATE TEMP TABLE ranks AS
WITH joined AS (
  SELECT r.job, r.run, r.process, coalesce(r.queue, 1) AS queue, r.rank, r.hostname, r.model, r.work, r.gpu_name, r.gpus, r.source, r.complete, r.unit, r.started_at,
    CAST(coalesce(r.measured_at, r.started_at) AS DATE) AS day,
    row_number() OVER (PARTITION BY r.job, r.process ORDER BY r.steps_timed > 0 DESC NULLS LAST, r.queue DESC NULLS LAST) = 1 AS newest,
    s.wall_ns, s.kernel_ns, s.communication_ns, s.compute_ns, s.saving_ns, s.exposed_communication_ns, s.exposed_idle_ns, s.mfu, s.hfu,
    g.throttled, g.sm_clock_hz, g.temperature_max_c
  FROM runs r LEFT JOIN steps s USING (job, run)
  LEFT JOIN (SELECT job, run, max(throttled_any) AS throttled, min(sm_clock_hz) AS sm_clock_hz, max(temperature_max_c) AS temperature_max_c
             FROM gpus GROUP BY ALL) g USING (job, run)
), groups AS (
  SELECT job, work, day, queue, gpu_name, count(*) AS alike, count(*) = count(wall_ns - exposed_communication_ns) AS by_step FROM joined GROUP BY ALL
), owned AS (
  SELECT j.*, alike, by_step, CASE WHEN by_step THEN wall_ns - exposed_communication_ns ELSE compute_ns END AS own_ns
  FROM joined j JOIN groups g USING (job, work, day, queue) WHERE j.gpu_name IS NOT DISTINCT FROM g.gpu_name
), middles AS (
  SELECT job, work, day, queue, gpu_name, median(own_ns) AS middle_ns FROM owned GROUP BY ALL
), spreads AS (
  SELECT o.job, o.work, o.day, o.queue, o.gpu_name, any_value(middle_ns) AS middle_ns, {_DEVIATION.format('own_ns', 'middle_ns')} AS deviation_ns
  FROM owned o JOIN middles m USING (job, work, day, queue) WHERE o.gpu_name IS NOT DISTINCT FROM m.gpu_name GROUP BY ALL
)
SELECT o.*, middle_ns, own_ns / nullif(middle_ns, 0) AS relative,
  coalesce(newest AND alike >= 3 AND own_ns > middle_ns + greatest({SLOWER} * middle_ns, {DEVIATIONS} * deviation_ns), false) AS slow
FROM owned o JOIN spreads s USING (job, work, day, queue) WHERE o.gpu_name IS NOT DISTINCT FROM s.gpu_name
"""

# One row for each layer with kernels of its own, in each group. `gpus`: the layer's share of a step, summed over all GPUs; as many GPUs do
# nothing else. `lost_gpus`: the same of what is above its roofs.
_LAYERS = """
CREATE TEMP TABLE layer_groups AS
SELECT l.job, r.model, r.work, r.day, r.queue, r.gpu_name, l.layer, l.direction, count(*) AS rows, median(l.self_ns) AS self_ns,
  avg(l.roof_fraction) AS roof_fraction, mode(l.roof_bound) AS roof_bound, median(l.flops) AS flops,
  sum(l.self_ns / r.wall_ns) FILTER (r.newest) AS gpus, sum(l.saving_self_ns / r.wall_ns) FILTER (r.newest) AS lost_gpus,
  sum(l.self_ns / r.wall_ns) FILTER (r.newest AND l.saving_self_ns IS NOT NULL) AS known_gpus
FROM layers l JOIN ranks r USING (job, run) WHERE l.self_ns > 0 GROUP BY ALL
"""

# In which layers the slowest ranks are slower than the others.
_REASONS = """
CREATE TEMP TABLE reasons AS
WITH slowest AS (SELECT * FROM ranks WHERE slow ORDER BY relative DESC, run LIMIT $most),
late AS (
  SELECT s.run, l.layer, l.direction, l.self_ns, g.self_ns AS middle_ns,
    row_number() OVER (PARTITION BY s.run ORDER BY l.self_ns - g.self_ns DESC, l.layer, l.direction) AS place
  FROM layers l JOIN slowest s USING (job, run)
  JOIN layer_groups g ON g.job = l.job AND g.work = s.work AND g.day = s.day AND g.queue = s.queue AND g.gpu_name IS NOT DISTINCT FROM s.gpu_name
    AND g.layer = l.layer AND g.direction = l.direction
  WHERE l.roof_bound IS DISTINCT FROM 'communication'
)
SELECT run, layer, direction, self_ns, middle_ns FROM late WHERE place <= 1 AND self_ns > middle_ns
"""


def survey(files, most, threads=0):
    """The ranks, layers and reasons in some jobs' files, as Arrow tables. `files`: paths by table."""
    engine = _engine({"threads": threads} if threads else {})
    for table, paths in files.items():
        engine.execute(f"CREATE VIEW {table} AS SELECT * FROM read_parquet({_listed(paths)}, hive_partitioning = true, hive_types = {{'job': VARCHAR}})")
    engine.execute(_RANKS)
    engine.execute(_LAYERS)
    engine.execute(_REASONS, {"most": most})
    return {name: engine.table(name).to_arrow_table() for name in ("ranks", "layer_groups", "reasons")}


def _engine(config):
    engine = duckdb.connect(":memory:", config=config)
    engine.execute("SET ieee_floating_point_ops = false")  # a division by 0 is unknown
    return engine


def _listed(paths):
    return "[" + ", ".join("'" + glob.escape(path).replace("'", "''") + "'" for path in paths) + "]"


def _became_slower(names, days, order):
    """Which of `names` have a larger value on their last day than before, each day compared with the lower quartile of those before the last,
    which a change some days ago does not move. What days differ by is told from one day to the next, for the same reason. Where FLOPs differ,
    so does the work, and nothing is said. `days`: rows of names, day, value, flops and throttled."""
    return f"""
      WITH days AS (SELECT *, hash({names}) AS key FROM ({days})),
      last AS (SELECT key, max(day) AS day, arg_max(value, day) AS now, arg_max(flops, day) AS flops, arg_max(throttled, day) AS throttled FROM days GROUP BY key),
      changes AS (SELECT key, day, abs(value - lag(value) OVER (PARTITION BY key ORDER BY day)) AS change FROM days),
      earlier AS (SELECT d.key, quantile_cont(value, 0.25) AS before, median(d.flops) AS flops, count(*) AS days_before,
                    coalesce(1.4826 / sqrt(2) * median(change), 0) AS deviation
                  FROM days d JOIN changes USING (key, day) JOIN last USING (key) WHERE d.day < last.day GROUP BY d.key),
      judged AS (SELECT last.*, before, days_before, before + greatest({SLOWER} * before, {DEVIATIONS} * deviation) AS most
                 FROM last JOIN earlier USING (key)
                 WHERE last.flops IS NULL OR earlier.flops IS NULL OR abs(last.flops - earlier.flops) <= {SAME_WORK} * earlier.flops),
      begun AS (SELECT d.key, min(d.day) AS since FROM days d JOIN judged j USING (key)
                WHERE d.day > (SELECT max(c.day) FROM days c WHERE c.key = d.key AND c.value <= j.most) GROUP BY d.key)
      SELECT DISTINCT {names}, since, judged.day, before, now, now / before - 1 AS slower, days_before, judged.throttled
      FROM judged JOIN days USING (key) JOIN begun USING (key) WHERE now > most ORDER BY {order} LIMIT $top"""


_QUESTIONS = {
    "fleet": """
      SELECT count(*) FILTER (newest) AS processes, count(DISTINCT job) AS jobs, count(DISTINCT hostname) AS nodes,
        (sum(gpus) FILTER (newest))::BIGINT AS gpus, min(day) AS first, max(day) AS last, count(*) AS runs, count(*) FILTER (newest AND source = 'playback') AS from_playback,
        count(*) FILTER (newest AND NOT complete) AS incomplete, count(*) FILTER (newest AND unit = 'run') AS without_steps,
        count(*) FILTER (newest AND alike >= 3 AND own_ns IS NOT NULL) AS compared, count(*) FILTER (slow) AS slow, count(DISTINCT day) AS days FROM ranks""",
    "layers": """
      SELECT model, layer, direction, count(DISTINCT job) AS jobs, sum(gpus) AS gpus, sum(lost_gpus) AS lost_gpus,
        sum(known_gpus) / sum(gpus) AS known, avg(roof_fraction) AS roof_fraction, mode(roof_bound) AS roof_bound
      FROM layer_groups GROUP BY model, layer, direction ORDER BY sum(lost_gpus) DESC NULLS LAST, sum(gpus) DESC NULLS LAST, layer, direction LIMIT $top""",
    **{name: f"""
      SELECT {columns}, count(*) AS processes, sum(gpus)::BIGINT AS gpus, sum(saving_ns / wall_ns) AS lost_gpus,
        avg(exposed_communication_ns / wall_ns) AS communication, avg(exposed_idle_ns / wall_ns) AS idle,
        avg(mfu) AS mfu, avg(hfu) AS hfu, median(wall_ns) AS wall_ns, count(*) FILTER (slow) AS slow
      FROM ranks WHERE newest GROUP BY {columns} ORDER BY sum(saving_ns / wall_ns) DESC NULLS LAST, sum(gpus) DESC, {columns} LIMIT $top"""
       for name, columns in (("jobs", "job"), ("models", "model"), ("gpus", "gpu_name"), ("nodes", "hostname"))},
    "slow_ranks": """
      SELECT r.job, r.rank, r.run, r.hostname, r.day, r.own_ns, r.middle_ns, r.relative - 1 AS slower, r.by_step, r.throttled, r.sm_clock_hz,
        r.temperature_max_c, w.layer, w.direction, w.self_ns AS layer_ns, w.middle_ns AS layer_middle_ns
      FROM ranks r LEFT JOIN reasons w USING (run) WHERE r.slow ORDER BY slower DESC, r.run LIMIT $top""",
    "slower_nodes": _became_slower("hostname", """
      SELECT hostname, day, median(relative) AS value, NULL::DOUBLE AS flops, max(throttled) AS throttled FROM ranks
      WHERE alike >= 3 AND relative IS NOT NULL GROUP BY ALL""", "slower DESC, hostname"),
    "slower_layers": _became_slower("model, gpu_name, work, layer, direction", """
      SELECT model, gpu_name, work, layer, direction, day, median(self_ns) AS value, median(flops) AS flops, NULL AS throttled FROM layer_groups GROUP BY ALL
      UNION ALL
      SELECT model, gpu_name, work, '', '', day, median(wall_ns), NULL, NULL FROM ranks WHERE wall_ns IS NOT NULL GROUP BY ALL""",
                                    "layer <> '', now - before DESC, layer, direction"),
}
# For the page: every rank of the jobs with the most to see, and the days of the layers that lose most.
_STRIP = """
  SELECT job, day, rank, run, hostname, relative, slow FROM ranks JOIN (
    SELECT job, count(*) FILTER (slow) AS slow_ranks FROM ranks WHERE newest AND relative IS NOT NULL GROUP BY job HAVING count(*) > 1
    ORDER BY slow_ranks DESC, count(*) DESC, job LIMIT $jobs) USING (job) WHERE newest ORDER BY slow_ranks DESC, job, day DESC, rank, run"""
_HISTORY = """
  WITH every AS (
    SELECT job, model, layer, direction, gpu_name, day, self_ns AS ns FROM layer_groups
    UNION ALL SELECT job, model, '', '', gpu_name, day, median(wall_ns) FROM ranks WHERE wall_ns IS NOT NULL GROUP BY ALL)
  SELECT place, e.model, layer, direction, gpu_name, day, median(ns) AS ns, min(ns) AS low_ns, max(ns) AS high_ns, count(DISTINCT job) AS jobs
  FROM every e JOIN (SELECT model, layer, direction, min(place) AS place FROM shown GROUP BY ALL) s USING (layer, direction)
  WHERE e.model IS NOT DISTINCT FROM s.model GROUP BY ALL ORDER BY place, gpu_name, day"""


class Judgement:
    """Surveys of all jobs put together."""

    def __init__(self, surveys):
        self._engine = _engine({})
        for name in ("ranks", "layer_groups", "reasons"):
            for place, one in enumerate(surveys):
                self._engine.register("arrived", one[name])
                self._engine.execute(f"CREATE TEMP TABLE {name} AS FROM arrived" if place == 0 else f"INSERT INTO {name} FROM arrived")
                self._engine.unregister("arrived")

    def ask(self, name, top):
        return self._rows(_QUESTIONS[name], {"top": top} if "$top" in _QUESTIONS[name] else {})

    def strip(self, jobs):
        return self._rows(_STRIP, {"jobs": jobs})

    def history(self, layers):
        """The days of layers: rows with a model, a layer and a direction; layer and direction are empty for the whole step."""
        self._engine.execute("CREATE OR REPLACE TEMP TABLE shown (place INTEGER, model VARCHAR, layer VARCHAR, direction VARCHAR)")
        for place, row in enumerate(layers):
            self._engine.execute("INSERT INTO shown VALUES (?, ?, ?, ?)", (place, row["model"], row["layer"], row["direction"]))
        return self._rows(_HISTORY, {})

    def _rows(self, query, values):
        answer = self._engine.execute(query, values)
        names = [column[0] for column in answer.description]
        return [dict(zip(names, row)) for row in answer.fetchall()]


QUESTIONS = tuple(_QUESTIONS)

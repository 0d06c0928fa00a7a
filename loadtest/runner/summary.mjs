// What a run was, as k6's `handleSummary` has it and as a table.

export function summary(stats, options, seconds) {
  const metrics = {};
  for (const [name, metric] of stats.metrics) metrics[name] = metric.describe(seconds);
  return { options, state: { isStdOutTTY: false, testRunDurationMs: seconds * 1000 }, metrics };
}

const number = (value) =>
  Number.isInteger(value) ? String(value) : value.toFixed(value < 10 ? 3 : 1);

/** A line for each metric, and for each threshold that does not hold. */
export function table(data, failed) {
  const lines = Object.entries(data.metrics)
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([name, { values, contains }]) => {
      const unit = contains === "time" ? " ms" : "";
      const shown = Object.entries(values).map(
        ([key, value]) => `${key}=${number(value)}${key === "count" ? "" : unit}`,
      );
      return `  ${name.padEnd(40, ".")} ${shown.join(" ")}`;
    });
  return [...lines, ...failed.map((it) => `  FAILED ${it}`), ""].join("\n");
}

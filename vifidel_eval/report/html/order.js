// In which order images come; order.py has that of the first list, in which images get their pictures.

// The share of all defined scores that are worse, ties half (order.py: percentile_ranks).
const ranks = [];
function percentileRanks(metric) {
  return (ranks[metric] ??= (() => {
    const { scores, lowerIsBetter } = data;
    const rankOf = rankAmong(scores.flatMap((ofSystem) => ofSystem[metric].filter(isNumber)));
    const rank = lowerIsBetter[metric] ? (score) => 1 - rankOf.get(score) : (score) => rankOf.get(score);
    return scores.map((ofSystem) =>
      ofSystem[metric].map((score) => (score === null ? null : rank(score))));
  })());
}

function rankAmong(scores) {
  const ordered = Float64Array.from(scores).sort();
  const rankOf = new Map();
  for (let start = 0, end = 0; start < ordered.length; start = end) {
    while (end < ordered.length && ordered[end] === ordered[start]) end += 1;
    rankOf.set(ordered[start], (start + end) / (2 * ordered.length));
  }
  return rankOf;
}

function median(values) {
  const ordered = Float64Array.from(values).sort();
  const middle = (ordered.length - 1) / 2;
  return (ordered[Math.floor(middle)] + ordered[Math.ceil(middle)]) / 2;
}

const sortKeys = {
  inventions: ({ systems }) => (image) => {
    const found = systems.map((system) => plans.inventions[system][image]).filter(isNumber);
    return found.length ? -found.reduce((sum, things) => sum + things) : NaN;
  },
  systems: ({ metric }) => (image) => {
    const found = data.scores.map((ofSystem) => ofSystem[metric][image]).filter(isNumber);
    if (found.length < 2) return NaN;
    const middle = median(found);
    return -2 * median(found.map((score) => Math.abs(score - middle)));
  },
  metrics: (wanted) => {
    const apart = metricsApart(wanted);
    return (image) => -Math.abs(apart(image));
  },
  worst: ({ metric, systems }) => extreme(metric, systems, !data.lowerIsBetter[metric]),
  best: ({ metric, systems }) => extreme(metric, systems, data.lowerIsBetter[metric]),
  given: () => (image) => image,
};

// The largest difference between the two ranks of a caption, above 0 where the first is higher.
function metricsApart({ metric, against, systems }) {
  const [one, other] = [percentileRanks(metric), percentileRanks(against)];
  return (image) => systems
    .filter((system) => one[system][image] !== null && other[system][image] !== null)
    .map((system) => one[system][image] - other[system][image])
    .reduce((most, apart) => (Math.abs(apart) <= Math.abs(most) ? most : apart), NaN);
}

function extreme(metric, systems, lowestFirst) {
  const [pick, sign] = lowestFirst ? [Math.min, 1] : [Math.max, -1];
  return (image) => {
    const found = systems.map((system) => data.scores[system][metric][image]).filter(isNumber);
    return found.length ? sign * pick(...found) : NaN;
  };
}

// Images without a value come last.
function sorted(images, choice) {
  const key = sortKeys[choice.sort](choice);
  const keys = new Map(images.map((image) => [image, key(image)]));
  const last = images.filter((image) => Number.isNaN(keys.get(image)));
  const rest = images.filter((image) => !Number.isNaN(keys.get(image)));
  return [...rest.sort((a, b) => keys.get(a) - keys.get(b) || a - b), ...last];
}

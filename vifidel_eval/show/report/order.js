// In which order images come; overview.py has that of the first list, in which images get their pictures.

// The share of all defined scores that are worse, ties half.
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

// The scores of an image that some systems have.
const scoresOf = (image, metric, systems) =>
  systems.map((system) => data.scores[system][metric][image]).filter(isNumber);

// The orders of the list: what is said of each; what an image has the more of the earlier it comes,
// NaN if that is not known; and what its card says of that.
const orders = {
  inventions: {
    said: () => "Images about which most is made up come first.",
    value: ({ systems }) => (image) => {
      const found = systems.map((system) => plans.inventions[system][image]).filter((things) => things !== null);
      return found.length ? found.flat().length : NaN;
    },
    onCard: (things) => (things ? `${counted(things, "thing")} made up` : "nothing made up"),
  },
  gap: {
    said: (metric) => `Images with a caption farthest below that of ${data.systems[settings.leaders[choice.metric]]} under ${metric} come first.`,
    value: ({ metric, systems }) => (image) => {
      const sign = data.lowerIsBetter[metric] ? -1 : 1;
      const best = data.scores[settings.leaders[metric]][metric][image];
      const found = scoresOf(image, metric, systems).map((score) => sign * (best - score));
      return best === null || !found.length ? NaN : Math.max(...found);
    },
    onCard: (gap) => `${scoreText(gap)} below the best`,
  },
  systems: {
    said: (metric) => `Images on which the ${metric} scores of all systems lie farthest apart come first.`,
    value: ({ metric }) => (image) => {
      const found = scoresOf(image, metric, [...data.systems.keys()]);
      if (found.length < 2) return NaN;
      const middle = median(found);
      return 2 * median(found.map((score) => Math.abs(score - middle)));
    },
    onCard: (apart) => `${scoreText(apart)} apart`,
  },
  metrics: {
    said: (metric, against) => `Images on which ${metric} and ${against} disagree most come first.`,
    value(wanted) {
      const apart = metricsApart(wanted);
      return (image) => Math.abs(apart(image));
    },
    onCard(apart, image) {
      const names = [choice.metric, choice.against].map((metric) => data.metrics[metric]);
      const [above, below] = metricsApart(choice)(image) >= 0 ? names : names.reverse();
      const points = Number(fixed(100 * apart, 0));
      return points ? `${above} ${counted(points, "point")} above ${below}` : "equal ranks";
    },
  },
  worst: { said: (metric) => `Images with the worst ${metric} come first.`, value: average(1) },
  best: { said: (metric) => `Images with the best ${metric} come first.`, value: average(-1) },
  given: { said: () => "In the order of the references.", value: () => (image) => -image },
};

// The largest difference between the two ranks of a caption, above 0 where the first is higher.
function metricsApart({ metric, against, systems }) {
  const [one, other] = [percentileRanks(metric), percentileRanks(against)];
  return (image) => systems
    .filter((system) => one[system][image] !== null && other[system][image] !== null)
    .map((system) => one[system][image] - other[system][image])
    .reduce((most, apart) => (Math.abs(apart) <= Math.abs(most) ? most : apart), NaN);
}

// How bad the scores of an image are on average, or with -1 how good.
function average(sign) {
  return ({ metric, systems }) => (image) => {
    const bad = data.lowerIsBetter[metric] ? sign : -sign;
    const found = scoresOf(image, metric, systems);
    return found.length ? found.reduce((sum, score) => sum + bad * score, 0) / found.length : NaN;
  };
}

// Images without a value come last.
function sorted(images, choice) {
  const value = orders[choice.sort].value(choice);
  const values = new Map(images.map((image) => [image, value(image)]));
  const last = images.filter((image) => Number.isNaN(values.get(image)));
  const rest = images.filter((image) => !Number.isNaN(values.get(image)));
  rest.sort((a, b) => values.get(b) - values.get(a) || a - b);
  if (choice.sort === "worst" && choice.rows.length === 1) {
    const first = rest.findIndex((image) => !isOnlyUnconfirmed(choice.rows[0], image));
    if (first > 0) rest.unshift(...rest.splice(first, 1));
  }
  return [...rest, ...last];
}

// Whether nothing but an unconfirmed thing speaks against a caption: no list begins with it.
function isOnlyUnconfirmed(row, image) {
  const { mentions } = ofCaption(row, image) ?? { mentions: [] };
  return mentions.some(({ verdict }) => verdict === UNCONFIRMED)
    && !mentions.some(({ verdict }) => verdict >= ABSENT) && !silentOf(row, image).length;
}

// Which images fit the filters.

// Words, and phrases in quotes; a quote that does not end goes to the end.
const wantedIn = (text) => [...text.toLowerCase().matchAll(/"([^"]*)"?|[^\s"]+/g)]
  .map(([word, phrase]) => (phrase ?? word).trim().replace(/\s+/g, " ")).filter(Boolean);

let texts;
const searchable = () => (texts ??= data.ids.map((id, image) => ({
  common: [`image ${id}`, ...objectsIn(image).map(({ name }) => name), ...data.references[image]]
    .join("\n").toLowerCase(),
  candidates: data.captions.map((ofSystem) => (ofSystem[image] ?? "").toLowerCase()),
})));

const mentioning = (isWanted) => ({ thing }) => (row, image) => (ofCaption(row, image)?.mentions ?? [])
  .some(({ category, verdict }) => isWanted(verdict) && (!thing || category === thing));
const judgements = {
  absent: ({ thing }) => (row, image) => {
    if (withCaptions.has(image)) return mentioning((verdict) => verdict >= ABSENT)({ thing })(row, image);
    const classes = plans.inventions?.[owners[row]][image] ?? [];
    return thing ? classes.includes(plans.classes.indexOf(thing)) : classes.length > 0;
  },
  says: mentioning(() => true),
  unconfirmed: mentioning((verdict) => verdict === UNCONFIRMED),
  leaves: ({ object }) => (row, image) => {
    const silent = silentOf(row, image);
    return object === "" ? silent.length > 0 : silent.includes(object);
  },
};

// The images that fit, those without captions in the page too as far as scores and classes tell.
function matching(choice) {
  const { ids, labels, objects, scores, captions: texts } = data;
  const { wanted, below, metric, rows, object, captions, brush, half, image: alone } = choice;
  if (alone) return [ids.indexOf(alone)].filter((at) => at >= 0);
  const label = object === "" ? null : labels.indexOf(object);
  const judge = captions && judgements[captions](choice);
  const leader = settings.leaders[metric];
  const sign = data.lowerIsBetter[metric] ? -1 : 1;
  const isHalf = (score, best) => score !== null && best !== null && (sign > 0 ? score < best / 2 : score > 2 * best);
  const fits = (image) => (row) => {
    const system = owners[row];
    if (withCaptions.has(image) ? texts[row][image] === null : scores[system].every((of) => of[image] === null)) return false;
    if (half && (system === settings.people || !isHalf(scores[system][metric][image], scores[leader][metric][image]))) return false;
    if (below !== null) {
      const score = scores[system][metric][image];
      if (score === null || score >= below) return false;
    }
    if (brush && !within(brush, scores[system][brush.across][image], scores[system][brush.up][image])) return false;
    return !judge || judge(row, image);
  };
  return Array.from(ids.keys()).filter((image) => {
    if (label !== null && !objects[image].some((of, at) => at % 2 === 0 && of === label)) return false;
    if (!rows.some(fits(image))) return false;
    if (!wanted.length) return true;
    const { common, candidates } = searchable()[image];
    return wanted.every((text) => common.includes(text)
      || rows.some((row) => candidates[row].includes(text)));
  });
}

const within = ({ x, y }, across, up) => across !== null && up !== null
  && (x[0] === null || across >= x[0]) && (x[1] === null || across <= x[1])
  && (y[0] === null || up >= y[0]) && (y[1] === null || up <= y[1]);

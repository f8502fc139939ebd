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

const mentioning = (isWanted) => ({ word, thing }) => (row, image) => (ofCaption(row, image)?.mentions ?? [])
  .some(({ text, category, verdict }) => isWanted(verdict) && (word ? text === word : !thing || category === thing));
const judgements = {
  absent: mentioning((verdict) => verdict >= ABSENT),
  unconfirmed: mentioning((verdict) => verdict === UNCONFIRMED),
  leaves: ({ object }) => (row, image) => {
    const silent = silentOf(row, image);
    return object === "" ? silent.length > 0 : silent.includes(object);
  },
};

function matching(choice) {
  const { ids, labels, objects, scores, captions: texts } = data;
  const { wanted, below, metric, rows, object, captions, brush, image: alone } = choice;
  if (alone) return [ids.indexOf(alone)].filter((at) => at >= 0);
  const label = object === "" ? null : labels.indexOf(object);
  const judge = captions && judgements[captions](choice);
  const fits = (image) => (row) => {
    if (texts[row][image] === null) return false;
    const system = owners[row];
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

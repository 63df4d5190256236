// What the page knows of each world: its notation, its words, how its parts are laid out, and what a click on it does.
// A state is an array with one content a place; Tangrams has as many as there are figures in the row.

const range = (count) => Array.from({ length: count }, (_, index) => index);

/** The contents of "1:x 2:y ...", or null where the text is anything else. */
function numbered(text, content, most) {
  if (text === "") return [];
  const fields = text.split(" ");
  if (fields.length > most) return null;
  const found = fields.map((field, index) => {
    const start = `${index + 1}:`;
    const rest = field.startsWith(start) ? field.slice(start.length) : "";
    return content.test(rest) ? rest : null;
  });
  return found.includes(null) ? null : found;
}

const written = (contents) => contents.map((content, index) => `${index + 1}:${content}`).join(" ");
const article = (name) => (/^[aeiou]/.test(name) ? `an ${name}` : `a ${name}`);
const differing = (before, after) => range(after.length).filter((place) => before[place] !== after[place]);

const alchemy = {
  title: "Alchemy",
  place: "Beaker",
  parse(text) {
    const beakers = numbered(text, /^(?:_|[bgopry]{1,4})$/, 7);
    return beakers?.length === 7 ? beakers.map((units) => (units === "_" ? "" : units)) : null;
  },
  format: (state) => written(state.map((units) => units || "_")),
  places: () => 7,
  changed: differing,
  describe(content, drawing) {
    return content ? `from the bottom ${[...content].map((letter) => drawing.colours[letter].name).join(", ")}` : "empty";
  },
  layout(state, drawing) {
    return state.flatMap((units, place) => {
      const { x } = drawing.places[place];
      return [
        { key: `glass ${place}`, sprite: "glass", x, y: 0 },
        ...[...units].map((letter, level) => ({
          key: `${place} ${level} ${letter}`,
          sprite: level ? letter : `${letter} bottom`,
          x,
          y: -level * drawing.unit,
          from: [0, -26 - (drawing.capacity - level) * 6],
        })),
        { key: `lip ${place}`, sprite: "lip", x, y: 0 },
      ];
    });
  },
  brushes: (drawing) => [
    ...Object.entries(drawing.colours).map(([letter, { name, fill, ink }]) => ({ id: letter, key: letter, label: name, sign: letter.toUpperCase(), fill, ink })),
    { id: "remove", key: "Backspace", label: "take out" },
  ],
  edit(state, place, brush, drawing) {
    const units = state[place];
    if (brush === "remove" ? !units : units.length >= drawing.capacity) return null;
    return state.with(place, brush === "remove" ? units.slice(0, -1) : units + brush);
  },
  hint: "Pick a colour and click a beaker. With the keyboard: arrows move between beakers, a colour’s letter adds a unit, Backspace takes one out.",
};

const scene = {
  title: "Scene",
  place: "Place",
  parse(text) {
    const places = numbered(text, /^[bgopry_]{2}$/, 10);
    return places?.length === 10 ? places : null;
  },
  format: written,
  places: () => 10,
  changed: differing,
  describe(content, drawing) {
    const [shirt, hat] = content;
    const named = (letter) => article(drawing.colours[letter].name);
    if (shirt === "_") return hat === "_" ? "empty" : `${named(hat)} hat without a person`;
    return `a person in ${named(shirt)} shirt${hat === "_" ? ", no hat" : ` and ${named(hat)} hat`}`;
  },
  layout(state, drawing) {
    return state.flatMap(([shirt, hat], place) => {
      const { x } = drawing.places[place];
      return [
        shirt + hat !== "__" && { key: `shadow ${place}`, sprite: "shadow", x, y: 0, from: [0, 0] },
        shirt !== "_" && { key: `shirt ${place} ${shirt}`, sprite: `shirt ${shirt}`, x, y: 0, from: [0, 16] },
        hat !== "_" && { key: `hat ${place} ${hat}`, sprite: `hat ${hat}`, x, y: 0, from: [0, -26] },
      ].filter(Boolean);
    });
  },
  brushes: (drawing) => [
    ...["shirt", "hat"].flatMap((part) =>
      Object.entries(drawing.colours).map(([letter, { name, fill, ink }]) => ({
        id: `${part} ${letter}`,
        key: part === "shirt" ? letter : letter.toUpperCase(),
        label: `${name} ${part}`,
        name,
        sign: letter.toUpperCase(),
        fill,
        ink,
        row: part === "shirt" ? "Shirt" : "Hat",
      })),
    ),
    { id: "remove", key: "Backspace", label: "take away", row: "Hat" },
  ],
  edit(state, place, brush) {
    const [shirt, hat] = state[place];
    if (brush === "remove") return shirt + hat === "__" ? null : state.with(place, hat === "_" ? "__" : `${shirt}_`);
    const [part, letter] = brush.split(" ");
    const content = part === "shirt" ? letter + hat : shirt + letter;
    return content === state[place] ? null : state.with(place, content);
  },
  hint: "Pick a shirt or a hat and click a place. With the keyboard: arrows move between places, a colour’s letter puts a shirt there, with Shift a hat, Backspace takes away.",
};

const tangrams = {
  title: "Tangrams",
  place: "Place",
  parse(text) {
    const figures = numbered(text, /^[0-4]$/, 5);
    return figures && new Set(figures).size === figures.length ? figures : null;
  },
  format: written,
  places: () => 5,
  /** The places whose figure was put there; one that was only pushed along has not changed. */
  changed(before, after) {
    const kept = common(before, after);
    return range(after.length).filter((place) => !kept.includes(after[place]));
  },
  describe: (content, drawing) => (content === undefined ? "empty" : `figure ${content}, the ${drawing.figures[content].name}`),
  layout(state, drawing) {
    return [
      ...drawing.places.map(({ x }, place) => {
        const tile = place < state.length ? "taken" : "free";
        return { key: `${tile} ${place}`, sprite: tile, x, y: 0, floor: true };
      }),
      ...state.map((digit, place) => ({ key: digit, sprite: digit, x: drawing.places[place].x, y: 0, from: [0, -34] })),
    ];
  },
  brushes: (drawing) => [
    ...Object.entries(drawing.figures).map(([digit, { name, fill }]) => ({ id: digit, key: digit, label: name, sign: digit, fill, ink: "#ffffff" })),
    { id: "remove", key: "Backspace", label: "take away" },
  ],
  edit(state, place, brush) {
    if (brush === "remove") return place < state.length ? state.toSpliced(place, 1) : null;
    if (state[place] === brush) return null;
    const others = state.filter((digit) => digit !== brush);
    return others.toSpliced(Math.min(place, others.length), 0, brush);
  },
  hint: "Pick a figure and click where it should stand. With the keyboard: arrows move between places, a figure’s digit puts it there, Backspace takes one away.",
};

/** The longest row of figures that stand in both in the same order. */
function common(a, b) {
  if (!a.length || !b.length) return [];
  if (a.at(-1) === b.at(-1)) return [...common(a.slice(0, -1), b.slice(0, -1)), a.at(-1)];
  const [left, right] = [common(a.slice(0, -1), b), common(a, b.slice(0, -1))];
  return left.length >= right.length ? left : right;
}

/** A world that this page has no drawing for: its states are shown as they are written. */
const plain = (name) => ({
  title: name,
  place: "Object",
  parse: (text) => text.split(" "),
  format: (state) => state.join(" "),
  places: () => 0,
  changed: () => [],
  describe: (content) => content,
  layout: () => [],
  brushes: () => [],
  edit: () => null,
  hint: "",
});

const WORLDS = { alchemy, scene, tangrams };

export const worldOf = (name) => (Object.hasOwn(WORLDS, name) ? WORLDS[name] : plain(name));

/** The whole state in words. */
export function inWords(world, state, drawing) {
  const places = world.places() || state.length;
  const said = range(places)
    .map((place) => [place, world.describe(state[place], drawing)])
    .filter(([, words]) => words !== "empty")
    .map(([place, words]) => `${world.place} ${place + 1}: ${words}.`);
  const rest = said.length === places ? "" : said.length ? " The rest is empty." : "Everything is empty.";
  return `${world.title}. ${said.join(" ")}${rest}`;
}

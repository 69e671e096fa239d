// An annotation round: each chain of a later part joins a chain of the parts before it, or is new. Answers are rows
// of the table that the terminal writes, too (docs/merging.md).
const made = []; // [document, chain, chain joined or null], in the order of the answers given on this page
const NEAR = 2500; // tokens of earlier parts that are shown at first
let wanted = null, summary = null, everything = false, whole = false;

const documentOf = (d) => DATA.documents[d];
const rows = () => [...DATA.rows, ...made];
const lines = () => DATA.text + made.map(([d, chain, target]) => {
  const { key, numbers, chains } = documentOf(d), named = (i) => [numbers[chains[i].part], chains[i].id];
  return [key, ...named(chain), ...(target === null ? ["new", "new"] : named(target)), DATA.annotator].join("\t") + "\n";
}).join("");

/** The answers of a document by chain; a revised one takes those of later parts with it (`keep_answer` in parts.py). */
function answersOf(d) {
  const found = new Map(), { chains } = documentOf(d);
  for (const [of, chain, target] of rows()) {
    if (of !== d) continue;
    if (found.has(chain) && found.get(chain) !== target)
      for (const later of [...found.keys()]) if (chains[later].part > chains[chain].part) found.delete(later);
    found.set(chain, target);
  }
  return found;
}

const questionsOf = (d) => documentOf(d).chains.flatMap((c, i) => (c.part > 0 ? [i] : []));
function nextQuestion() {
  for (let d = 0; d < DATA.documents.length; d++) {
    const answers = answersOf(d), chain = questionsOf(d).find((i) => !answers.has(i));
    if (chain !== undefined) return { d, chain };
  }
  return null;
}

/** Document chains of the parts before `part`: the first chain of each, with all its mentions. */
function chainsBefore(d, part) {
  const answers = answersOf(d), roots = new Map(), groups = new Map();
  documentOf(d).chains.forEach((c, i) => {
    if (c.part >= part) return;
    const target = answers.get(i) ?? null, root = target === null ? i : roots.get(target);
    roots.set(i, root);
    if (!groups.has(root)) groups.set(root, { root, members: [], mentions: [] });
    groups.get(root).members.push(i);
    groups.get(root).mentions.push(...c.mentions);
  });
  for (const group of groups.values()) group.mentions.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  return groups;
}

const textOf = (d, [start, end]) => documentOf(d).tokens.slice(start, end + 1).filter((t) => t !== "\n").join(" ");
const wordsOf = (d, mentions) => new Set(mentions.flatMap((m) => textOf(d, m).toLowerCase().split(" ")).filter((w) => w.length > 2));
const told = (d, mentions) => [...new Set(mentions.map((m) => textOf(d, m)))].sort((a, b) => b.length - a.length).slice(0, 4).join(" | ");

/** The chains to choose from: the linker's first, then by how many words they share, then the nearest. */
function optionsOf({ d, chain }) {
  const asked = documentOf(d).chains[chain], mine = wordsOf(d, asked.mentions);
  const rank = (g) => [g.members.includes(asked.advice) ? 0 : 1, -[...wordsOf(d, g.mentions)].filter((w) => mine.has(w)).length, -g.mentions.at(-1)[0], g.root];
  const ranked = [...chainsBefore(d, asked.part).values()].map((g) => [rank(g), g]);
  ranked.sort(([a], [b]) => a.map((x, k) => x - b[k]).find((x) => x) || 0);
  return ranked.map(([, g], k) => ({ ...g, key: k < 9 ? String(k + 1) : "", hue: (k * 137) % 360 }));
}

const CLOSE = /^([,.;:!?)\]’”]|n['’]t|['’](s|m|re|ve|ll|d)|'')$/i, OPEN = /^([([“‘]|``)$/;
/** Tokens as text; mentions are coloured, one inside the other. `marks`: {start, end, hue or none, key}. */
function passage(d, first, last, marks) {
  const { tokens, speakers } = documentOf(d), opening = new Map(), box = h("p", { class: "passage" });
  for (const m of marks) if (m.start >= first && m.end < last) opening.set(m.start, [...(opening.get(m.start) || []), m]);
  const open = [{ element: box, end: Infinity }];
  const put = (node) => open.at(-1).element.append(node);
  for (let i = first; i < last; i++) {
    const turn = speakers && speakers[i] && (i === first || speakers[i] !== speakers[i - 1]);
    if (i > first) put(turn || tokens[i] === "\n" ? "\n" : CLOSE.test(tokens[i]) || OPEN.test(tokens[i - 1]) ? "" : " ");
    if (turn) put(h("b", {}, `${speakers[i]}: `));
    for (const m of (opening.get(i) || []).sort((a, b) => b.end - a.end)) {
      const element = h("mark", { class: m.hue === undefined ? "asked" : "chain", onclick: m.onclick }, m.key ? h("sub", {}, m.key) : null);
      if (m.hue !== undefined) element.style.setProperty("--h", m.hue);
      put(element);
      open.push({ element, end: Math.min(m.end, open.at(-1).end) });
    }
    if (tokens[i] !== "\n") put(tokens[i]);
    while (open.at(-1).end <= i) open.pop();
  }
  return box;
}

function pane(title, ...content) {
  return h("section", {}, h("h3", {}, title), h("div", { class: "pane", tabindex: "0", role: "region", "aria-label": title }, content));
}

function answer(target, words) {
  const { d, chain } = asked(), before = answersOf(d).size, known = answersOf(d).has(chain);
  made.push([d, chain, target]);
  const answers = answersOf(d), lost = before + (known ? 0 : 1) - answers.size, { part } = documentOf(d).chains[chain];
  say(lost ? `${lost} later answers depend on this one and are asked again.` : words);
  wanted = null; everything = whole = false;
  if (questionsOf(d).every((i) => documentOf(d).chains[i].part !== part || answers.has(i))) summary = { d, part };
  save(lines());
  draw();
}

function back() {
  if (!made.length) return say("Nothing to undo.");
  const [d, chain] = made.pop();
  summary = null;
  wanted = { d, chain };
  save(lines());
  draw();
}

const asked = () => wanted || nextQuestion();

function drawSummary() {
  const { d, part } = summary, { key, numbers, chains } = documentOf(d), answers = answersOf(d), before = chainsBefore(d, part);
  $("state").textContent = `${key}, summary of part ${numbers[part]}`;
  const joined = (i) => {
    if (!answers.has(i)) return "not decided";
    const group = [...before.values()].find((g) => g.members.includes(answers.get(i)));
    return group ? told(d, group.mentions) : "new";
  };
  const list = chains.flatMap((c, i) => (c.part === part ? [i] : []));
  $("main").replaceChildren(h("h2", {}, "Is all of this right?"),
    h("ul", { class: "choices" }, list.map((i, k) => h("li", {}, h("button", { onclick: () => revise(i) }, k < 9 ? h("kbd", {}, k + 1) : null, told(d, chains[i].mentions), " → ", joined(i))))),
    h("div", { class: "buttons" }, h("button", { id: "right", onclick: goOn }, h("kbd", {}, "y"), "Go on"), h("button", { onclick: back }, "Undo (z)")));
  summary.list = list;
}
function revise(chain) { wanted = { d: summary.d, chain }; summary = null; draw(); }
function goOn() { summary = null; wanted = null; draw(); }
function showSummary() { const q = asked(); if (q) { summary = { d: q.d, part: documentOf(q.d).chains[q.chain].part }; draw(); } }

function draw() {
  $("main").classList.add("wide");
  if (summary) return drawSummary();
  const q = asked();
  if (!q) {
    $("state").textContent = "no more questions";
    return $("main").replaceChildren(h("h2", {}, "All chains are decided."), h("p", {}, `The answers are in ${DATA.server.file}. Stop the command with Ctrl-C: it goes on with them.`),
      h("div", { class: "buttons" }, h("button", { onclick: back }, "Undo (z)")));
  }
  const { d, chain } = q, { key, numbers, starts, tokens, chains } = documentOf(d), { part, mentions } = chains[chain];
  const options = optionsOf(q), list = chains.flatMap((c, i) => (c.part === part ? [i] : []));
  $("state").textContent = `${key}, part ${numbers[part]}, chain ${list.indexOf(chain) + 1} of ${list.length}`;
  const marks = options.flatMap((o) => o.mentions.map(([start, end]) => ({ start, end, hue: o.hue, key: o.key, onclick: (e) => { e.stopPropagation(); if (!everything && !o.key) { everything = true; draw(); } $(`option${o.root}`)?.focus(); } })));
  const from = whole ? 0 : (starts.slice(0, part).find((s) => starts[part] - s <= NEAR) ?? starts[part - 1]);
  const ends = starts[part + 1] ?? tokens.length, shown = everything ? options : options.slice(0, 9);
  const choice = (o) => {
    const label = told(d, o.mentions), key = h("kbd", { class: "chain" }, o.key || "·");
    key.style.setProperty("--h", o.hue);
    return h("li", {}, h("button", { id: `option${o.root}`, onclick: () => answer(o.root, label) }, key, `${label} `, h("span", { class: "note" }, `(${number(o.mentions.length)})`)));
  };
  $("main").replaceChildren(h("h2", {}, `Which chain does this one join? ${told(d, mentions)}`),
    h("ul", { class: "choices" }, shown.map(choice),
      h("li", {}, h("button", { id: "fresh", onclick: () => answer(null, "A new chain.") }, h("kbd", {}, "n"), "a new chain")),
      shown.length < options.length ? h("li", {}, h("button", { onclick: () => { everything = true; draw(); } }, h("kbd", {}, "a"), `all ${number(options.length)} chains`)) : null),
    h("div", { class: "beside" },
      pane(part === 1 ? `Part ${numbers[0]}` : `Parts before ${numbers[part]}`, from > 0 ? h("p", {}, h("button", { onclick: () => { whole = true; draw(); } }, "Show all earlier parts")) : null, passage(d, from, starts[part], marks)),
      pane(`Part ${numbers[part]}`, passage(d, starts[part], ends, mentions.map(([start, end]) => ({ start, end }))))));
  const panes = document.querySelectorAll(".pane"), first = panes[1].querySelector(".asked");
  panes[0].scrollTop = panes[0].scrollHeight;
  panes[1].scrollTop = Math.max(0, first.offsetTop - panes[1].offsetTop - panes[1].clientHeight / 3);
}

onKeys((pressed) => {
  const digit = /^[1-9]$/.test(pressed) ? Number(pressed) - 1 : -1;
  if (pressed === "z") return back;
  if (summary) return pressed === "y" ? goOn : digit >= 0 && digit < summary.list.length ? () => revise(summary.list[digit]) : null;
  const q = asked();
  if (!q) return null;
  const option = optionsOf(q)[digit];
  if (option) return () => answer(option.root, told(q.d, option.mentions));
  return { n: () => answer(null, "A new chain."), a: () => { everything = true; draw(); }, s: showSummary }[pressed];
});
$("tools").replaceChildren(h("button", { onclick: back, title: "z" }, "Undo"), h("button", { onclick: showSummary, title: "s" }, "Summary"));
draw();
document.documentElement.dataset.ready = "yes";

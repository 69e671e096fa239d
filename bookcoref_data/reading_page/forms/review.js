// Questions, one at a time; answers are corrections (docs/corrections.md).
const ASK = { speaker: "Who says this?", pronoun: "Who is meant?", phrase: "Who is meant?", name: "Who has this name?", words: "Which words are the mention?", "same person": "One person, or two?" };
const given = []; // the corrections of each answer, in order
let at = 0, unsaved = false, failed = ""; // failed: why the server did not take the answers

const now = () => new Date().toISOString().replace(/\.\d+Z/, "Z");
const lines = () => [...DATA.edits, ...given.flat()].map((e) => JSON.stringify(e) + "\n").join("");

/** Give the answers to the server; a page without one has them until they are saved as a file. */
async function keep() {
  unsaved = true;
  if (!DATA.server) return true;
  const saved = await save(lines());
  failed = saved ? "" : notSaved;
  unsaved = !saved;
  if (!saved) draw();
  return saved;
}

function answer(edits, told) {
  given[at] = edits.map((e) => ({ ...e, ...(DATA.author && { author: DATA.author }), date: now() }));
  at++;
  say(told);
  keep();
  draw();
}

function back() {
  if (!at) return say("Nothing to undo.");
  at--;
  given.length = at;
  keep();
  draw();
}

function somebodyElse() {
  const q = DATA.questions[at];
  if (!q?.typed?.length) return;
  const field = h("input", { list: "people", "aria-label": "Name", autocomplete: "off" });
  const take = (name, fresh) => {
    $("dialog").close();
    const made = q.typed.map((e) => Object.fromEntries(Object.entries(e).map(([k, v]) => [k, v === "?" ? name : v])));
    answer([...(fresh ? [{ op: "new", character: name, confirmed: true, doc_key: DATA.doc_key }] : []), ...made], `${name}.`);
  };
  const choices = h("ul", { class: "choices" });
  const go = (e) => {
    e.preventDefault();
    const typed = field.value.trim(), fits = fitting(typed, DATA.names, DATA.aliases);
    if (fits.length === 1) return take(fits[0]);
    choices.replaceChildren(...[...(fits.length ? fits : fitting(typed, DATA.names, DATA.aliases, begun)).slice(0, 6).map((n) => h("button", { onclick: () => take(n) }, n)),
      typed && h("button", { onclick: () => { DATA.names.push(typed); take(typed, true); } }, `New person: ${typed}`)].filter(Boolean).map((b) => h("li", {}, b)));
    choices.querySelector("button")?.focus();
  };
  openDialog("Who is it?", h("form", { class: "stack", onsubmit: go }, field, h("button", {}, "Take this name")), choices,
    h("p", {}, h("button", { onclick: () => { $("dialog").close(); answer(noneOf(q), "Somebody who is not in the cast."); } }, "Somebody who is not in the cast")));
  field.focus();
}
const noneOf = (q) => q.answers.find((a) => a.key === "n").edits;

function nobody() { const q = DATA.questions[at], a = q?.answers.find((one) => one.key === "n"); if (a) answer(a.edits, "Nobody."); }

/** Read the book again: the server does, and the page comes with new questions. */
async function again() {
  if (!DATA.server || failed) { if (!DATA.server) unsaved = false; return download("edits.jsonl", "application/jsonl", lines()); }
  $("state").textContent = "Reading the book again …";
  if (await keep()) location.reload();
}

/** A passage as people read it: lines joined, a line for each paragraph. */
const flowing = (text) => text.replace(/\n\n+/g, "\f").replace(/\s*\n\s*/g, " ").replaceAll("\f", "\n");

function draw() {
  const q = DATA.questions[at], left = DATA.questions.length - at;
  $("tools").replaceChildren(h("button", { onclick: back, title: "z" }, "Undo"), h("button", { onclick: again }, DATA.server && !failed ? "Read again" : "Save edits.jsonl"));
  $("state").textContent = failed ? `not saved: ${failed}; save your answers as a file, then reload the page` : `${DATA.counts ? "" : `${percent(DATA.likely_right)} likely right · `}${left ? `question ${at + 1} of ${DATA.questions.length}` : "no more questions"}`;
  if (!q) {
    const done = DATA.ready ? `The wanted share of ${percent(DATA.until)} is reached.` : `${at} answers given.`;
    const then = DATA.counts ? "Save the file, then make the corrected data set: bookcoref-data edits apply DATASET --edits edits.jsonl --out corrected"
      : "Save the file, then read the book again with it: bookcoref-data review BOOK --edits edits.jsonl";
    return $("main").replaceChildren(h("h2", {}, done),
      h("p", {}, DATA.server ? "Go on: the next questions depend on these answers." : then),
      h("div", { class: "buttons" }, h("button", { id: "again", onclick: again }, DATA.server ? "Read again (Enter)" : "Save edits.jsonl (Enter)"), h("button", { onclick: back }, "Undo (z)")));
  }
  const button = (a) => h("li", {}, h("button", { onclick: () => answer(a.edits, `${a.says}.`) }, h("kbd", {}, a.key), a.says, (a.key === "n" ? !q.now : a.says === q.now) ? " (now)" : ""));
  const known = q.answers.filter((a) => a.key !== "n" && a.key !== "c"), rest = q.answers.filter((a) => a.key === "n" || a.key === "c");
  const pair = q.reason ? `Is this an error? (${q.kind})` : q.kind === "same person" ? `${q.people[0]} and ${q.people[1]}: one person, or two?` : ASK[q.kind];
  $("main").replaceChildren(
    h("p", { id: "passage", class: "passage", tabindex: 0 }, "… ", flowing(q.before), h("mark", {}, flowing(q.words)), flowing(q.after), " …"),
    h("h2", {}, pair),
    h("ul", { class: "choices" }, known.map(button),
      q.typed?.length ? h("li", {}, h("button", { onclick: somebodyElse }, h("kbd", {}, "o"), "somebody else")) : null, rest.map(button)),
    q.reason ? h("p", { class: "note" }, `${q.reason}. ${Math.round(100 * q.wrong)}% likely to be an error. Document ${q.doc_key}, token ${q.start}.`) : h("p", { class: "note" }, `Now: ${q.now ?? "nobody of the cast"}; ${Math.round(100 * q.wrong)}% likely to be wrong. ${Math.round(q.hangs) > 1 ? `About ${number(Math.round(q.hangs))} decisions depend` : "Nothing else depends"} on it${q.places > 1 ? `; the answer holds for ${q.places} places ${q.kind === "pronoun" ? "in this sentence" : "with these words"}` : ""}.`),
    DATA.counts ? h("details", {}, h("summary", {}, "How many of each kind"), h("dl", { class: "keys" }, Object.entries(DATA.counts).flatMap(([kind, n]) => [h("dt", {}, kind), h("dd", {}, number(n))]))) : "");
  const shown = $("passage"), mark = shown.querySelector("mark");
  shown.scrollTop = mark.offsetTop - shown.offsetTop - Math.max(0, shown.clientHeight - mark.offsetHeight) / 2;
  scrollTo(0, 0);
}

onKeys((key) => {
  const q = DATA.questions[at], chosen = q?.answers.find((a) => a.key === key);
  if (chosen) return () => answer(chosen.edits, `${chosen.says}.`);
  if (key === "Enter" && !q && document.activeElement.tagName !== "BUTTON") return again;
  return { o: somebodyElse, n: nobody, z: back }[key];
});
$("people").replaceChildren(...DATA.names.map((name) => h("option", { value: name })));
addEventListener("beforeunload", (e) => { if (unsaved) e.preventDefault(); });
draw();
document.documentElement.dataset.ready = "yes";

// Corrections: a list of operations over the annotation the page was made from (docs/corrections.md).

let edits = [];
const elsewhere = []; // corrections of other books in the same file: not of this page, and saved as they are
const past = []; // the corrections before each change of this session
const AROUND = 6;

const anchor = (start, end) => ({ tokens: [start, end], words: tokensOf(start, end), before: tokensOf(start - AROUND, start - 1), after: tokensOf(end + 1, end + AROUND) });

function findMention(start, end, character = null) {
  return mentionsIn(start, start + 1).find((i) => book.end[i] === end && (character === null || book.character[i] === character));
}
const person = (name) => {
  const at = book.names.indexOf(name);
  if (at >= 0) return joinedInto(at);
  book.names.push(name);
  return book.names.length - 1;
};

/** Change the annotation in memory by one operation. */
function perform(edit) {
  const [start, end] = edit.at ? edit.at.tokens : [NONE, NONE];
  const was = edit.was == null ? null : book.names.indexOf(edit.was);
  if (edit.op === "link") {
    let i = findMention(start, end, was);
    if (i === undefined) {
      i = book.start.length;
      book.start.push(start); book.end.push(end); book.code.push(DATA.editCode); book.score.push(100); book.edited.push(true);
      book.character.push(person(edit.character));
      sortMentions();
    }
    book.character[i] = person(edit.character); book.edited[i] = true; book.score[i] = 100;
  } else if (edit.op === "unlink") {
    const i = findMention(start, end, was);
    if (i !== undefined) { book.character[i] = NONE; sortMentions(); }
  } else if (edit.op === "span") {
    const i = findMention(start, end, was);
    if (i !== undefined) { [book.start[i], book.end[i]] = edit.to.tokens; book.edited[i] = true; sortMentions(); }
  } else if (edit.op === "speaker") {
    const q = book.quotes.find((one) => one.start === start && one.end === end);
    if (q) { q.speaker = edit.speaker == null ? NONE : person(edit.speaker); q.addressees = (edit.addressees || []).map(person); q.edited = true; }
  } else if (edit.op === "rename") {
    const c = book.names.indexOf(edit.character);
    if (c >= 0 && !book.names.includes(edit.name)) book.names[c] = edit.name;
  } else if (edit.op === "merge") {
    const from = book.names.indexOf(edit.character), into = book.names.indexOf(edit.into);
    if (from >= 0 && into >= 0 && joinedInto(into) !== from) {
      book.joined.set(from, into);
      book.character.forEach((c, i) => { if (c === from) book.character[i] = into; });
      for (const q of book.quotes) { if (q.speaker === from) q.speaker = into; q.addressees = q.addressees.map((c) => (c === from ? into : c)); }
    }
  } else if (edit.op === "new") person(edit.character);
}

function rebuild() {
  loadBase();
  edits.forEach(perform);
  refreshAll();
}

function refreshAll() {
  refill();
  $("people").replaceChildren(...book.names.map((name) => h("option", { value: name })));
  drawStrip(); showWho(); showTab(tab);
}

/** Take operations up: at once on the page, in the browser, and on disk when a server is there. */
function commit(list, message) {
  past.push(edits.slice());
  const group = list.length > 1 ? `${Date.now().toString(36)}` : undefined;
  const date = new Date().toISOString().replace(/\.\d+Z/, "Z"), author = keep.get("author") || DATA.author || "";
  for (const op of list) {
    const edit = { doc_key: DATA.key, ...op, ...(author && { author }), date, ...(group && { group }) };
    edits.push(edit);
    perform(edit);
  }
  refreshAll();
  store();
  toast(message);
  say(message);
}

/** Take back the last change of this session, whatever it was; before that the last correction there is. */
function undo() {
  const last = edits.at(-1);
  if (!last && !past.length) return toast("Nothing to undo.");
  edits = past.pop() || edits.filter((e) => e !== last && (!last.group || e.group !== last.group));
  rebuild(); store();
  if (!$("detail").hidden && last?.at) reopen(last.at.tokens);
  toast("Taken back.");
}

function reopen([start, end]) {
  const i = findMention(start, end);
  if (i === undefined) { state.current = NONE; showDetail(start, end); } else select(i, { scroll: false });
}

const known = (name) => (state.spoiler ? book.names.find((n, c) => labelOf(c) === name) || name : name);

function correctMention(start, end, i, name, scope) {
  const to = known(name), list = [];
  if (!book.names.includes(to)) list.push({ op: "new", character: to, confirmed: true });
  const targets = i === NONE ? [] : scopeOf(i, scope);
  if (i === NONE) list.push({ op: "link", at: anchor(start, end), character: to });
  else for (const k of targets) list.push({ op: "link", at: anchor(book.start[k], book.end[k]), was: book.names[book.character[k]], character: to });
  if (i !== NONE && book.names[book.character[i]] === to && scope === "one") list.forEach((op) => { op.confirmed = true; });
  const done = () => {
    commit(list, i === NONE ? `Marked as ${to}.` : `${number(targets.length)} mention${targets.length > 1 ? "s are" : " is"} ${to}.`);
    reopen([start, end]);
  };
  askFirst(new Map(i === NONE || book.names[book.character[i]] === to ? [] : [[book.character[i], targets.length]]), to, done);
}

function scopeOf(i, scope) {
  if (scope === "one") return [i];
  const c = book.character[i], words = wordsOf(book.start[i], book.end[i]).toLowerCase();
  const end = scope === "book" ? DATA.tokens : chapterAt(book.start[i]).end;
  return mentionsIn(book.start[i], end).filter((k) => k === i || (book.character[k] === c && book.start[k] >= book.start[i] &&
    (scope !== "words" || wordsOf(book.start[k], book.end[k]).toLowerCase() === words)));
}

function correctNobody(i) {
  const at = [book.start[i], book.end[i]];
  commit([{ op: "unlink", at: anchor(...at), was: book.names[book.character[i]] }], "The mention is nobody.");
  reopen(at);
}

function correctSpan(i, start, end) {
  const chapter = chapterAt(book.start[i]);
  if (start > end || start < chapter.start || end >= chapter.end) return toast("The span cannot go there.");
  const was = book.names[book.character[i]];
  if (mentionsIn(start, start + 1).some((k) => book.end[k] === end && book.character[k] === book.character[i])) return toast("That span is marked already.");
  commit([{ op: "span", at: anchor(book.start[i], book.end[i]), was, to: anchor(start, end) }], `The span is “${wordsOf(start, end)}”.`);
  reopen([start, end]);
}

function correctSpeaker(q, speaker, addressees) {
  const name = speaker ? known(speaker) : null, to = addressees.map(known);
  const list = [name, ...to].filter((n) => n && !book.names.includes(n)).map((n) => ({ op: "new", character: n, confirmed: true }));
  list.push({ op: "speaker", at: anchor(q.start, q.end), ...(q.speaker >= 0 && { was: book.names[q.speaker] }), speaker: name, addressees: to });
  commit(list, name ? `Spoken by ${name}.` : "The speaker is not known.");
  showDetail(q.start, Math.min(q.start, q.end), findMention(q.start, q.start) ?? NONE);
}

function renameCharacter(c, name) {
  if (!name || name === book.names[c]) return;
  if (book.names.includes(name)) return toast(`There is a ${name} already: merge the two.`);
  const others = fitting(name, c);
  const rename = () => commit([{ op: "rename", character: book.names[c], name, ...(others.length && { confirmed: true }) }], `Renamed to ${name}.`);
  if (!others.length) return rename();
  openDialog(`Is this ${others.map(labelOf).join(" or ")}?`, h("div", { class: "choices" },
    others.map((o) => h("button", { onclick: () => { $("dialog").close(); mergeCharacter(c, book.names[o]); } }, `Yes: merge with ${labelOf(o)}`)),
    h("button", { onclick: () => { $("dialog").close(); rename(); } }, `No: call ${labelOf(c)} ${name}`)));
}

function mergeCharacter(c, name) {
  const into = book.names.indexOf(known(name));
  if (into < 0 || into === c) return toast("Choose another character of the list.");
  const merge = () => {
    commit([{ op: "merge", character: book.names[c], into: book.names[into] }], `Merged into ${book.names[into]}.`);
    state.chosen = into;
    refreshAll();
  };
  askFirst(new Map([[c, book.order.filter((i) => book.character[i] === c).length]]), labelOf(into), merge);
}

const linesOf = (list) => list.map((e) => JSON.stringify(e) + "\n").join("");
const jsonLines = () => linesOf([...elsewhere, ...edits]);

// --- keeping --------------------------------------------------------------------------------------------------

let saving = Promise.resolve();
function store() {
  if (!keep.set("edits", jsonLines())) toast("This browser keeps nothing: save the file before you leave.");
  if (DATA.server) saving = saving.then(saveToServer);
}

async function saveToServer() {
  try {
    const answer = await fetch("edits", { method: "POST", body: jsonLines(), headers: { "X-Token": DATA.server.token, "If-Match": DATA.server.version } });
    if (!answer.ok) throw new Error(await answer.text());
    DATA.server.version = await answer.text();
    saved = true;
  } catch (error) {
    saved = false;
    toast(`Not saved to disk: ${error.message}`);
  }
  if (tab === "Corrections") showTab(tab);
}
let saved = true;

function loadEdits() {
  const begun = linesOf(DATA.edits), old = keep.get("begun") ?? "", stored = DATA.server ? null : keep.get("edits");
  // A page made anew with other corrections has them, and those that this browser has added to the ones before.
  const known = new Set([...DATA.edits, ...parseLines(old)].map(told)), mine = parseLines(stored ?? "");
  take(stored !== null && begun === old ? mine : [...DATA.edits, ...mine.filter((e) => !known.has(told(e)))]);
  if (!DATA.server) keep.set("begun", begun);
  edits.forEach(perform);
}

const parseLines = (text) => text.split("\n").filter((line) => line.trim()).map((line) => JSON.parse(line)).filter((e) => typeof e.op === "string");
const told = (edit) => JSON.stringify(Object.entries(edit).sort()); // whoever wrote it

/** Add corrections that are not here yet; how many are of this book, and how many of others. */
function take(list) {
  const here = new Set([...elsewhere, ...edits].map(told)), fresh = list.filter((e) => !here.has(told(e)));
  const ours = fresh.filter((e) => !e.doc_key || e.doc_key === DATA.key), others = fresh.filter((e) => !ours.includes(e));
  elsewhere.push(...others);
  edits = [...edits, ...ours];
  return [ours.length, others.length];
}

async function openFile(event) {
  try {
    const list = parseLines(await event.target.files[0].text()), before = edits, [ours, others] = take(list);
    past.push(before);
    rebuild(); store();
    const known = list.length - ours - others;
    toast(`${number(list.length)} corrections read: ${number(ours)} new${known ? `, ${number(known)} here already` : ""}${others ? `, ${number(others)} of other books, which stay in the file` : ""}.`);
  } catch (error) { toast(`This is no file of corrections: ${error.message}`); }
}

const TELL = {
  link: (e) => `“${e.at.words}” is ${e.character}`, unlink: (e) => `“${e.at.words}” is not ${e.was ?? "anybody"}`,
  span: (e) => `“${e.at.words}” → “${e.to.words}”`, speaker: (e) => `${e.speaker ?? "somebody unknown"} says “${e.at.words.slice(0, 40)}”`,
  rename: (e) => `${e.character} is called ${e.name}`, merge: (e) => `${e.character} is ${e.into}`, new: (e) => `new: ${e.character}`,
  seen: (e) => `${e.at ? `“${e.at.words.slice(0, 40)}”` : `${e.character} and ${e.into}`}: ${e.name}`,
};

function correctionsTab() {
  const author = h("input", { type: "text", value: keep.get("author") || DATA.author || "", placeholder: "Your name, written into each correction", "aria-label": "Your name",
    onchange: (e) => keep.set("author", e.target.value.trim()) });
  const status = DATA.server ? (saved ? `Saved in ${DATA.server.file}.` : "Not saved to disk yet.") : "Kept in this browser. Save the file to keep them for good.";
  const others = elsewhere.length ? ` ${number(elsewhere.length)} of other books stay in the file.` : "";
  const remove = (e) => { past.push(edits); edits = edits.filter((one) => one !== e && (!e.group || one.group !== e.group)); rebuild(); store(); };
  return [author, h("div", { class: "buttons" },
    h("button", { id: "save", onclick: () => download("edits.jsonl", "application/jsonl", jsonLines()) }, "Save edits.jsonl"),
    h("button", { onclick: undo, title: "z" }, "Undo"),
    h("label", {}, h("span", { class: "hidden" }, "Open edits.jsonl"), h("input", { type: "file", accept: ".jsonl", onchange: openFile, title: "Open a file of corrections" }))),
  h("p", { class: "note", role: "status" }, status + others),
  h("ol", {}, edits.map((e) => h("li", { class: "row" },
    h("button", { class: "link", onclick: () => e.at && jump(...e.at.tokens) }, (TELL[e.op] || (() => e.op))(e)),
    h("button", { onclick: () => remove(e), "aria-label": "Remove this correction", title: e.group ? "Remove it and those made with it" : "Remove" }, "✕"))).reverse())];
}

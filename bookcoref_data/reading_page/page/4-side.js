// The lists beside the text: people, contents, search, doubtful links, differences, corrections.

let tab = "People";
const TABS = { People: peopleTab, Contents: contentsTab, Search: searchTab, Doubtful: doubtfulTab };
if (DATA.compared) TABS.Differences = differencesTab;
TABS.Corrections = correctionsTab;

function showTab(name) {
  tab = name;
  $("tabs").replaceChildren(...Object.keys(TABS).map((t) => h("button", {
    role: "tab", "aria-selected": String(t === tab), "aria-controls": "pane", onclick: () => showTab(t),
  }, t === "Corrections" && edits.length ? `${t} (${edits.length})` : t)));
  $("pane").replaceChildren(...TABS[name]());
}

const inContext = (start, end) => {
  const chapter = chapterAt(start);
  const before = start > chapter.start ? wordsOf(Math.max(chapter.start, start - 6), start - 1) : "";
  const after = end + 1 < chapter.end ? wordsOf(end + 1, Math.min(chapter.end - 1, end + 5)) : "";
  return h("span", { class: "text" }, before, " ", h("mark", {}, wordsOf(start, end)), " ", after);
};

/** A list that shows so many rows at a time: `show` fills it, `note` says how many there are and gives the next. */
function portions(items, most, row) {
  const note = h("p", { class: "note", role: "status" });
  const show = (rows, from = 0) => {
    const made = rows.slice(from, from + most).map(row), to = from + made.length, more = Math.min(most, rows.length - to);
    if (!from) items.replaceChildren();
    items.append(...made);
    note.replaceChildren(...(more ? [`${number(to)} of ${number(rows.length)} are listed. `, h("button", { onclick: () => show(rows, to) }, `List ${number(more)} more`)] : []));
    if (from) made[0].querySelector("button").focus();
    chapters.forEach((c) => { if (!c.filled) c.scan = null; });
  };
  return { note, show };
}

function peopleTab() {
  const n = counts();
  const list = n.map((count, c) => c).filter((c) => n[c]).sort((a, b) => n[b] - n[a]);
  const items = h("ul", {}), field = h("input", { type: "search", placeholder: "Find a character (c)", "aria-label": "Find a character", id: "find" });
  const { note, show } = portions(items, 400, (c) => h("li", {},
    h("button", { "aria-current": String(c === state.chosen), onclick: () => { choose(c); if (innerWidth > 760 && state.chosen !== NONE) walk(1); } },
      h("span", { class: `key ${look(c)}`, "aria-hidden": "true" }), h("span", { class: "text" }, labelOf(c)), h("small", {}, number(n[c])))));
  const find = () => show(list.filter((c) => labelOf(c).toLowerCase().includes(field.value.toLowerCase())));
  field.addEventListener("input", find);
  find();
  return [field, note, items, filters(), h("p", {}, h("button", { onclick: tableDialog }, "Chapter table"))];
}

function filters() {
  const known = new Set(book.order.map((i) => kindOf(i)));
  const box = h("fieldset", { class: "filters" }, h("legend", {}, "Show"));
  for (const kind of Object.keys(KINDS)) if (known.has(kind)) box.append(h("label", {},
    h("input", { type: "checkbox", checked: state.kinds[kind], onchange: (e) => { state.kinds[kind] = e.target.checked; filtered(); } }), KINDS[kind]));
  box.append(h("label", {}, h("input", { type: "checkbox", checked: state.only, onchange: (e) => { state.only = e.target.checked; filtered(); } }), "only the chosen character"));
  const label = h("span", {}, `${state.most}%`);
  box.append(h("label", {}, "no more certain than", h("input", { type: "range", min: 0, max: 100, value: state.most, "aria-label": "Certainty at most, in percent",
    oninput: (e) => { state.most = +e.target.value; label.textContent = `${state.most}%`; }, onchange: filtered }), label));
  return box;
}

function filtered() { refill(); drawStrip(); showWho(); }

function contentsTab() {
  const here = headingAt(state.token).number;
  return [h("ol", {}, headings.filter((c) => c.start <= limit()).map((c) => h("li", {},
    h("button", { "aria-current": String(c.number === here), onclick: () => { jump(c.start); closeMenu(); } },
      h("span", { class: "text" }, titleOf(c)), h("small", {}, number(c.end - c.start))))))];
}

/** Places of `wanted` in the text up to the limit, as {chapter, at} of the chapter's string. */
function findAll(wanted) {
  const found = [];
  const fold = (text) => text.toLowerCase().replace(/[’‘]/g, "'").replace(/[“”]/g, '"');
  const key = fold(wanted);
  for (const chapter of chapters) {
    if (chapter.start > limit()) break;
    const text = fold(shown(chapter.text).replace(/[\n\t]/g, " "));
    for (let at = text.indexOf(key); at >= 0; at = text.indexOf(key, at + key.length)) {
      if (chapter.end > limit() && tokenOfPrinted(chapter, at) > limit()) break;
      found.push({ chapter, at });
    }
  }
  return found;
}

/** The token that covers place `at` of the printed text of a chapter. */
function tokenOfPrinted(chapter, at) {
  const s = scan(chapter);
  let printed = 0, i = 0;
  while (i < chapter.text.length) {
    if (chapter.text.charCodeAt(i) !== MARKER) { if (printed === at) break; printed++; }
    i++;
  }
  return chapter.start + Math.max(0, lowest(s.from, (v) => v, i + 1) - 1);
}

let lastSearch = "";
function searchTab() {
  const field = h("input", { type: "search", id: "search", placeholder: "Search the whole text (/)", "aria-label": "Search the whole text", value: lastSearch });
  const told = h("p", { class: "note", role: "status" }), items = h("ol", {});
  const { note, show } = portions(items, 300, ({ chapter, at }) => {
    const start = tokenOfPrinted(chapter, at), end = tokenOfPrinted(chapter, at + lastSearch.length - 1);
    return h("li", {}, h("button", { onclick: () => { jump(start, end, { highlight: true }); closeMenu(); } }, inContext(start, end)));
  });
  const run = () => {
    lastSearch = field.value;
    const found = field.value.trim().length < 2 ? null : findAll(field.value);
    told.textContent = found ? `${number(found.length)} ${found.length === 1 ? "place" : "places"}` : "";
    show(found ?? []);
  };
  let timer = 0;
  field.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(run, 150); });
  if (lastSearch) run();
  return [field, told, note, items];
}

const doubtful = () => book.order
  .filter((i) => visible(i) && !book.edited[i] && book.start[i] <= limit() && (!state.only || book.character[i] === state.chosen))
  .sort((a, b) => book.score[a] - book.score[b] || book.start[a] - book.start[b]);

function doubtfulTab() {
  const items = h("ol", {});
  const { note, show } = portions(items, 200, (i) => h("li", {}, h("button", { "aria-current": String(i === state.current), onclick: () => { select(i); closeMenu(); } },
    inContext(book.start[i], book.end[i]), h("small", {}, `${initials(labelOf(book.character[i]))} ${book.score[i]}%`))));
  show(doubtful());
  return [
    h("p", { class: "note" }, "Links by certainty, the least certain first. Those you correct leave the list."),
    h("p", {}, h("button", { onclick: nextDoubtful }, "Next (u)")), note, items,
  ];
}

function nextDoubtful() {
  const list = doubtful();
  if (!list.length) return toast("No link is left.");
  const at = list.indexOf(state.current);
  select(list[(at + 1) % list.length]);
}

// --- table ------------------------------------------------------------------------------------------------------

function chapterTable() {
  const n = counts();
  const people = n.map((_, c) => c).filter((c) => n[c]).sort((a, b) => n[b] - n[a]);
  const read = headings.filter((c) => c.start <= limit());
  const table = read.map(() => new Array(book.names.length).fill(0));
  for (const i of book.order) if (book.start[i] <= limit()) table[headingAt(book.start[i]).number][book.character[i]]++;
  const head = ["chapter", ...people.map(labelOf)];
  const rows = read.map((c, k) => [titleOf(c), ...people.map((p) => table[k][p])]);
  return { head, rows };
}

function tableDialog() {
  const { head, rows } = chapterTable();
  const most = 41;
  openDialog("Mentions by chapter and character",
    h("p", {}, h("button", { onclick: () => download(`${DATA.key}.chapters.csv`, "text/csv", csv([head, ...rows])) }, "Save as CSV"), " ",
      head.length > most ? h("span", { class: "note" }, `The ${most - 1} most frequent of ${head.length - 1} are shown; the file has all.`) : ""),
    h("div", { class: "wide", tabindex: 0 }, h("table", {},
      h("thead", {}, h("tr", {}, head.slice(0, most).map((c) => h("th", { scope: "col" }, c)))),
      h("tbody", {}, rows.map((row) => h("tr", {}, row.slice(0, most).map((v) => h("td", { class: v === 0 ? "zero" : null }, String(v)))))))));
}

function openDialog(title, ...content) {
  const dialog = $("dialog");
  dialog.replaceChildren(h("h2", {}, title), ...content, h("p", {}, h("button", { onclick: () => dialog.close() }, "Close")));
  if (!dialog.open) dialog.showModal();
}

function helpDialog() {
  const keys = [["n  p", "next, previous mention of the chosen character"], ["j  k", "next, previous mention of anybody"],
    ["u", "the next of the least certain links"], ["]  [", "next, previous chapter"], ["c", "find a character"], ["/", "search the text"],
    ["e", "correct the mention or quote"], ["x", "the mention is nobody"], ["z", "take the last correction back"], ["d  D", "next, previous difference"], ["Esc", "close"]];
  openDialog("Keys", h("dl", { class: "keys" }, keys.flatMap(([k, what]) => [h("dt", {}, k.split("  ").map((one) => h("kbd", {}, one))), h("dd", {}, what)])),
    h("p", { class: "note" }, "Click a word to see who is meant and why. Select words to mark a mention that is missing."));
}

const closeMenu = () => { document.body.classList.remove("menu"); $("menu").setAttribute("aria-expanded", "false"); };

// Characters: the list, the strip over the book, walking mentions, the spoiler-safe names.

let reach = 0; // the furthest token read, for spoiler-safe reading
const limit = () => (state.spoiler ? reach : DATA.tokens);

/** How a character may be called at the reader's place. */
function labelOf(character) {
  if (character === NONE) return "nobody";
  if (!state.spoiler) return book.names[character];
  const texts = new Map();
  for (const i of book.order) {
    if (book.start[i] > reach) break;
    if (book.character[i] !== character) continue;
    const words = wordsOf(book.start[i], book.end[i]);
    if (kindOf(i) === "name" || (!kindOf(i) && /^\p{Lu}/u.test(words))) texts.set(words, (texts.get(words) || 0) + 1);
  }
  if (texts.has(book.names[character])) return book.names[character];
  const best = [...texts].sort((a, b) => b[1] - a[1] || b[0].length - a[0].length)[0];
  return best ? best[0] : `somebody not yet named (${character + 1})`;
}

/** Mentions of a character up to the limit, in order; those that the filters hide are left out. */
const mentionsOf = (character) =>
  book.order.filter((i) => book.character[i] === character && visible(i) && book.start[i] <= limit());

function counts() {
  const found = new Array(book.names.length).fill(0);
  const end = limit();
  for (const i of book.order) if (book.start[i] <= end) found[book.character[i]]++;
  return found;
}

function choose(character) {
  state.chosen = state.chosen === character ? NONE : character;
  document.querySelectorAll("main .chosen").forEach((e) => e.classList.remove("chosen"));
  if (state.only) refill();
  else if (state.chosen !== NONE) {
    document.querySelectorAll("main .m").forEach((e) => {
      if (book.character[e.dataset.m] === state.chosen) e.classList.add("chosen");
    });
  }
  showWho();
  drawStrip();
  if (tab === "People") showTab("People");
}

function showWho() {
  const who = $("who");
  who.hidden = state.chosen === NONE;
  if (who.hidden) return;
  const list = mentionsOf(state.chosen), at = list.indexOf(state.current);
  who.replaceChildren(
    h("span", { class: `key ${look(state.chosen)}`, "aria-hidden": "true" }), h("strong", {}, labelOf(state.chosen)),
    h("button", { onclick: () => walk(-1), title: "Previous mention (p)", "aria-label": "Previous mention" }, "‹"),
    h("span", {}, `${at < 0 ? "–" : number(at + 1)} of ${number(list.length)}`),
    h("button", { onclick: () => walk(1), title: "Next mention (n)", "aria-label": "Next mention" }, "›"),
    h("button", { onclick: () => characterDialog(state.chosen), title: "Rename, merge" }, "Edit"),
  );
}

/** To the next (1) or previous (-1) mention of the chosen character, or of anybody. */
function walk(step, anybody = state.chosen === NONE) {
  const list = anybody ? book.order.filter((i) => visible(i) && book.start[i] <= limit()) : mentionsOf(state.chosen);
  if (!list.length) return toast("No mention fits the filters.");
  let at = list.indexOf(state.current);
  if (at < 0) {
    at = lowest(list, (i) => book.start[i], state.token);
    at = step > 0 ? at - 1 : at;
  }
  select(list[(at + step + list.length) % list.length]);
}

function select(i, { scroll = true } = {}) {
  state.current = i;
  showDetail(book.start[i], book.end[i], i);
  const spent = scroll ? jump(book.start[i], book.end[i]) : 0;
  document.querySelectorAll("main .current").forEach((e) => e.classList.remove("current"));
  document.querySelectorAll(`main [data-m="${i}"]`).forEach((e) => e.classList.add("current"));
  if (!scroll) { state.token = book.start[i]; history.replaceState(null, "", `#t=${book.start[i]}`); drawStrip(); }
  showWho();
  say(`${wordsOf(book.start[i], book.end[i])}: ${labelOf(book.character[i])}, ${chapterAt(book.start[i]).title}`);
  return spent;
}

// --- the strip ------------------------------------------------------------------------------------------------

function drawStrip() {
  const canvas = $("strip"), ratio = devicePixelRatio || 1;
  const width = canvas.clientWidth, height = canvas.clientHeight;
  if (!width) return;
  canvas.width = width * ratio; canvas.height = height * ratio;
  const g = canvas.getContext("2d"), css = getComputedStyle(document.documentElement);
  const colour = (name) => css.getPropertyValue(name).trim();
  g.scale(ratio, ratio);
  const x = (token) => (token / DATA.tokens) * width, end = limit();
  g.fillStyle = colour("--paper"); g.fillRect(0, 0, width, height);
  g.fillStyle = colour("--line");
  chapters.forEach((c) => { if (c.start <= end) g.fillRect(x(c.start), 0, 1, height); });
  const bins = new Array(Math.ceil(width / 2)).fill(0);
  for (const i of book.order) {
    if (book.start[i] > end) break;
    if ((state.chosen === NONE || book.character[i] === state.chosen) && visible(i)) bins[Math.floor(x(book.start[i]) / 2)]++;
  }
  const most = Math.max(...bins, 1);
  g.fillStyle = state.chosen === NONE ? colour("--none") : colour(`--k${colourOf(state.chosen)}`);
  bins.forEach((n, b) => {
    if (!n) return;
    const size = Math.max(3, Math.sqrt(n / most) * (height - 4));
    g.fillRect(b * 2, height - size, state.chosen === NONE ? 1 : 2, size);
  });
  if (state.spoiler) { g.fillStyle = colour("--panel"); g.fillRect(x(end), 0, width, height); }
  for (const d of differences) { g.fillStyle = colour("--bad"); g.fillRect(x(d.start), 0, 1, 4); }
  g.fillStyle = colour("--accent"); g.fillRect(Math.max(0, x(state.token) - 1), 0, 3, height);
  const who = state.chosen === NONE ? "All mentions" : labelOf(state.chosen);
  const where = state.chosen === NONE ? "" : `: in ${new Set(mentionsOf(state.chosen).map((i) => chapterAt(book.start[i]).number)).size} chapters`;
  canvas.setAttribute("aria-label", `${who} over the whole book${where}. Arrow keys move by chapter.`);
}

function stripClick(event) {
  const box = $("strip").getBoundingClientRect();
  const token = Math.min(limit(), Math.floor(((event.clientX - box.left) / box.width) * DATA.tokens));
  if (state.chosen !== NONE) {
    const list = mentionsOf(state.chosen);
    const reachable = DATA.tokens * (6 / box.width);
    const best = list.reduce((a, i) => (a === NONE || Math.abs(book.start[i] - token) < Math.abs(book.start[a] - token) ? i : a), NONE);
    if (best !== NONE && Math.abs(book.start[best] - token) < reachable) return select(best);
  }
  jump(token);
}

function byChapter(step) {
  const at = chapterAt(state.token).number + step;
  if (at >= 0 && at < chapters.length && chapters[at].start <= limit()) jump(chapters[at].start);
}

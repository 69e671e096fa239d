// The data of the page. Text is one string per chapter, mentions are flat arrays of whole numbers.
//
// In a chapter's string a blank or the marker stands between two tokens (blank: printed, marker: not);
// "\n" is a token that ends a paragraph, "\t" ends one without a token, "\f" is a token of white space.

const NONE = -1;
const FIELDS = 3; // numbers per mention: start (difference), character, code * 101 + score in percent
const KINDS = { name: "names", nominal: "noun phrases", pronoun: "pronouns", "": "kind unknown" };
const MARKER = DATA.marker.charCodeAt(0);

const chapters = DATA.titles.map((title, i) => ({
  title, number: i, text: DATA.texts[i], start: DATA.starts[i],
  end: i + 1 < DATA.starts.length ? DATA.starts[i + 1] : DATA.tokens,
  section: null, filled: false, scan: null,
}));
DATA.texts = null;

/** What is shown now: changes with corrections. `order` lists mentions by place, `gone` have character NONE. */
const book = { names: [], start: [], end: [], character: [], code: [], score: [], edited: [], order: [], quotes: [], joined: new Map() };

function loadBase() {
  const flat = DATA.mentions;
  const count = flat.length / FIELDS;
  const make = () => new Array(count);
  Object.assign(book, {
    names: DATA.names.slice(), start: make(), end: make(), character: make(), code: make(), score: make(),
    edited: new Array(count).fill(false), joined: new Map(),
    quotes: loadQuotes(),
  });
  let at = 0;
  for (let i = 0; i < count; i++) {
    at += flat[i * FIELDS];
    book.start[i] = at;
    book.character[i] = flat[i * FIELDS + 1];
    book.code[i] = Math.floor(flat[i * FIELDS + 2] / 101);
    book.score[i] = flat[i * FIELDS + 2] % 101;
    book.end[i] = at + DATA.codes[book.code[i]][3];
  }
  sortMentions();
}

function loadQuotes() {
  const flat = DATA.quotes, quotes = [];
  for (let i = 0, start = 0; i < flat.length;) {
    const [difference, length, speaker, rule, score, count] = flat.slice(i, i + 6);
    start += difference;
    i += 6 + count;
    const addressees = flat.slice(i - count, i);
    quotes.push({ start, end: start + length, speaker, addressees, rule: DATA.quoteRules[rule], score, edited: false });
  }
  return quotes;
}

function sortMentions() {
  const { start, end } = book;
  book.order = start.map((_, i) => i).filter((i) => book.character[i] !== NONE);
  book.order.sort((a, b) => start[a] - start[b] || end[b] - end[a] || a - b);
}

const kindOf = (i) => DATA.codes[book.code[i]][0];
const stepOf = (i) => DATA.codes[book.code[i]][1];
const ruleOf = (i) => DATA.codes[book.code[i]][2];

/** First place in `list` (sorted by `of`) whose value is not below `value`. */
function lowest(list, of, value) {
  let low = 0, high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (of(list[middle]) < value) low = middle + 1; else high = middle;
  }
  return low;
}

/** The chapters as the book names them: a piece of text without a heading belongs to the heading before it. */
const headings = [];
for (const c of chapters) {
  if (c.title || !headings.length || !chapters.some((one) => one.title)) headings.push({ title: c.title, number: headings.length, start: c.start, end: c.end });
  else headings.at(-1).end = c.end;
}
const headingAt = (token) => headings[Math.max(0, lowest(headings, (c) => c.start, token + 1) - 1)];
const titleOf = (c) => c.title || (headings.some((one) => one.title) ? "Before the first chapter" : `Part ${c.number + 1}`);
const chapterAt = (token) => chapters[Math.max(0, lowest(chapters, (c) => c.start, token + 1) - 1)];
const quoteAt = (token) => book.quotes.find((q) => q.start <= token && token <= q.end);

/** Mentions that begin at tokens [from, to), in order of place. */
function mentionsIn(from, to) {
  const of = (i) => book.start[i];
  return book.order.slice(lowest(book.order, of, from), lowest(book.order, of, to));
}

/** Places of the tokens of a chapter in its string, and its paragraphs. */
function scan(chapter) {
  if (chapter.scan) return chapter.scan;
  const text = chapter.text, from = [], to = [], paragraphs = [];
  let begin = 0, firstToken = 0, firstPlace = 0;
  const close = (i) => { if (i > begin) { from.push(begin); to.push(i); } begin = i + 1; };
  const paragraph = (i) => {
    if (from.length > firstToken) paragraphs.push({ a: firstToken, b: from.length, from: firstPlace, to: i });
    firstToken = from.length; firstPlace = i + 1;
  };
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 32 || c === MARKER) close(i);
    else if (c === 10 || c === 12) { close(i); from.push(i); to.push(i); if (c === 10) paragraph(i); }
    else if (c === 9) { close(i); paragraph(i); }
  }
  close(text.length);
  paragraph(text.length);
  chapter.scan = { from, to, paragraphs };
  return chapter.scan;
}

const shown = (text) => text.replaceAll(DATA.marker, "").replaceAll("\f", " ");

/** The printed words of tokens `start` to `end` (inclusive), cut at the end of the chapter. */
function wordsOf(start, end) {
  const chapter = chapterAt(start), s = scan(chapter);
  const last = Math.min(end, chapter.end - 1) - chapter.start;
  return shown(chapter.text.slice(s.from[start - chapter.start], s.to[last]).replace(/[\n\t]/g, " "));
}

/** The tokens of [start, end] joined by blanks, those of white space left out: as corrections hold them. */
function tokensOf(start, end) {
  const found = [];
  for (let t = Math.max(0, start); t <= Math.min(end, DATA.tokens - 1); t++) {
    const chapter = chapterAt(t), s = scan(chapter), k = t - chapter.start;
    const word = chapter.text.slice(s.from[k], s.to[k]);
    if (word) found.push(word);
  }
  return found.join(" ");
}

const escapeHtml = (text) =>
  text.replace(/[&<>"']/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" })[c]);

const say = (text) => { $("say").textContent = text; };
let toastTimer = 0;
function toast(text) {
  $("toast").textContent = text;
  $("toast").hidden = false;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => { $("toast").hidden = true; }, 3500);
}

/** Settings and corrections are kept per book in the browser; a browser may refuse, then they are not. */
const keep = {
  name: (what) => `bookcoref-data:${DATA.key}:${DATA.digest}:${what}`,
  get(what) { try { return localStorage.getItem(this.name(what)); } catch { return null; } },
  set(what, value) { try { localStorage.setItem(this.name(what), value); return true; } catch { return false; } },
};

const csvCell = (value) => {
  let text = String(value);
  if (/^[=+\-@\t\r]/.test(text) && typeof value === "string") text = `'${text}`; // no formula in a spreadsheet
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
// The first character tells Excel that the file is UTF-8.
const csv = (rows) => "\ufeff" + rows.map((row) => row.map(csvCell).join(",")).join("\r\n") + "\r\n";

// The text: a placeholder per chapter, filled near the screen and emptied far from it.

const state = {
  chosen: NONE, current: NONE, difference: NONE, token: 0, spoiler: false,
  kinds: { name: true, nominal: true, pronoun: true, "": true }, most: 100, only: false,
};

const visible = (i) =>
  state.kinds[kindOf(i)] && book.score[i] <= state.most && (!state.only || book.character[i] === state.chosen);

/** Everything that is underlined in a chapter: mentions, and differences when two annotations are compared. */
function intervals(chapter) {
  const s = scan(chapter), found = [];
  const add = (start, end, value) => {
    let last = Math.min(end, chapter.end - 1) - chapter.start;
    const first = start - chapter.start;
    while (last > first && s.to[last] === s.from[last]) last--;
    found.push({ from: s.from[first], to: s.to[last], height: 0, ...value });
  };
  for (const i of mentionsIn(chapter.start, chapter.end)) if (visible(i)) add(book.start[i], book.end[i], { mention: i });
  for (const d of differencesIn(chapter.start, chapter.end)) add(d.start, d.end, { difference: d });
  found.sort((a, b) => a.from - b.from || b.to - a.to);
  for (let i = found.length - 1; i >= 0; i--) {
    for (let j = i + 1; j < found.length && found[j].from < found[i].to; j++) {
      if (found[i].mention !== undefined) found[i].height = Math.max(found[i].height, found[j].height + 1);
    }
  }
  return found;
}

const initials = (name) => name.replace(/[^\p{L}\p{N} ]/gu, "").split(" ").map((w) => w[0] || "").join("").slice(0, 3);
/** Colour and line of a character: the most frequent ones get different colours, then the line changes. */
const rank = [];
function rankCharacters() {
  const count = new Array(book.names.length).fill(0);
  for (const i of book.order) count[book.character[i]]++;
  count.map((_, c) => c).sort((a, b) => count[b] - count[a] || a - b).forEach((c, k) => { rank[c] = k; });
}
const colourOf = (character) => (rank[character] ?? character) % 10;
const look = (character) => `k${colourOf(character)} s${Math.floor((rank[character] ?? character) / 10) % 4}`;

function openTag(v) {
  if (v.difference) return `<span class="df d${v.difference.kind}" data-d="${v.difference.number}">`;
  const i = v.mention, c = book.character[i];
  const classes = ["m", look(c), v.height ? `h${Math.min(v.height, 3)}` : "", book.edited[i] ? "edited" : "",
    c === state.chosen ? "chosen" : "", i === state.current ? "current" : ""].filter(Boolean).join(" ");
  const label = v.height ? "" : ` data-l="${escapeHtml(initials(labelOf(c)))}"`;
  return `<span class="${classes}" data-m="${i}"${label}>`;
}

/** One paragraph as HTML. Where two mentions cross, the later one is closed and opened again. */
function paragraphHtml(chapter, p, list) {
  const stack = [];
  let html = "", at = p.from;
  const write = (to) => { if (to > at) { html += escapeHtml(shown(chapter.text.slice(at, to))); at = to; } };
  const closeUntil = (limit) => {
    for (;;) {
      let k = -1;
      for (let i = stack.length - 1; i >= 0; i--) if (stack[i].to <= limit && (k < 0 || stack[i].to < stack[k].to)) k = i;
      if (k < 0) return;
      write(Math.min(stack[k].to, p.to));
      const again = stack.splice(k);
      html += "</span>".repeat(again.length);
      again.shift();
      for (const v of again) { html += openTag(v); stack.push(v); }
    }
  };
  for (const v of list) {
    closeUntil(v.from);
    write(v.from);
    html += openTag(v);
    stack.push(v);
  }
  closeUntil(Infinity);
  write(p.to);
  return html;
}

function fill(chapter, again = false) {
  if (chapter.filled && !again) return;
  const s = scan(chapter), list = intervals(chapter);
  let html = "", k = 0, left = chapter.title;
  for (const p of s.paragraphs) {
    const inside = [];
    while (k < list.length && list[k].from < p.to) inside.push(list[k++]);
    const words = shown(chapter.text.slice(p.from, p.to)).trim();
    const heading = words && left.includes(words) && words.length < 200;
    if (!heading) left = "";
    const tag = heading ? "h2" : "p";
    html += `<${tag} data-t="${chapter.start + p.a}" data-from="${p.from}" data-to="${p.to}">${paragraphHtml(chapter, p, inside)}</${tag}>`;
  }
  chapter.section.innerHTML = html;
  chapter.section.style.height = "";
  chapter.filled = true;
}

function empty(chapter) {
  if (!chapter.filled) return;
  chapter.section.style.height = `${chapter.section.getBoundingClientRect().height}px`;
  chapter.section.replaceChildren();
  chapter.filled = false;
  chapter.scan = null;
}

const near = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    const chapter = chapters[entry.target.dataset.n];
    if (entry.isIntersecting) fill(chapter); else if (!printing) empty(chapter);
  }
}, { rootMargin: "120% 0px" });

let printing = false;
addEventListener("beforeprint", () => { printing = true; chapters.forEach((c) => fill(c)); });
addEventListener("afterprint", () => { printing = false; chapters.forEach((c) => { near.unobserve(c.section); near.observe(c.section); }); });

function buildSections() {
  const width = Math.min($("text").clientWidth, 608);
  const perLine = Math.max(20, width / 8.6), line = 33;
  const fragment = document.createDocumentFragment(), times = {};
  for (const chapter of chapters) {
    const heading = headingAt(chapter.start), title = titleOf(heading);
    // Of the pieces of a long chapter the first is a landmark; every book of a novel may have its Chapter I.
    const first = heading.start === chapter.start, n = first && (times[title] = (times[title] || 0) + 1);
    chapter.section = h("section", { "data-n": chapter.number, ...(first && { "aria-label": n > 1 ? `${title} (${n})` : title }) });
    const breaks = chapter.text.split(/[\n\t]/).length;
    chapter.section.style.height = `${Math.round((chapter.text.length / perLine + breaks) * line)}px`;
    fragment.append(chapter.section);
  }
  $("text").append(fragment);
}

const refill = () => chapters.forEach((c) => { if (c.filled) fill(c, true); });

/** The text node and offset of a place in a chapter's string. */
function nodeAt(chapter, place) {
  fill(chapter);
  const blocks = chapter.section.children;
  const p = [...blocks].find((b) => place <= +b.dataset.to) || blocks[blocks.length - 1];
  if (!p) return null;
  let rest = shown(chapter.text.slice(+p.dataset.from, place)).length;
  const walker = document.createTreeWalker(p, NodeFilter.SHOW_TEXT);
  let node = walker.nextNode(), last = null;
  while (node && rest >= node.length) { rest -= node.length; last = node; node = walker.nextNode(); }
  return node ? { node, offset: rest } : last && { node: last, offset: last.length };
}

function rangeOf(start, end) {
  const chapter = chapterAt(start), s = scan(chapter);
  fill(chapter);
  const a = nodeAt(chapter, s.from[start - chapter.start]);
  if (!a) return null;
  const length = wordsOf(start, end).length;
  const range = document.createRange();
  range.setStart(a.node, a.offset);
  let rest = a.offset + length, node = a.node;
  const walker = document.createTreeWalker(chapter.section, NodeFilter.SHOW_TEXT);
  walker.currentNode = node;
  while (rest > node.length && walker.nextNode()) { rest -= node.length; node = walker.currentNode; }
  range.setEnd(node, Math.min(rest, node.length));
  return range;
}

/** The token at a text node and offset, NONE outside the text. */
function tokenAt(node, offset) {
  const p = (node.nodeType === Node.TEXT_NODE ? node.parentElement : node)?.closest?.("[data-t]");
  if (!p) return NONE;
  const range = document.createRange();
  range.setStart(p, 0);
  range.setEnd(node, offset);
  const before = range.toString().length;
  const chapter = chapters[p.parentElement.dataset.n], s = scan(chapter);
  let k = +p.dataset.t - chapter.start, place = 0;
  const to = +p.dataset.to;
  for (let i = +p.dataset.from; i < to; i++) {
    const c = chapter.text.charCodeAt(i);
    while (k + 1 < s.from.length && s.from[k + 1] <= i) k++;
    if (c === MARKER) continue;
    if (place >= before) return chapter.start + k;
    place++;
  }
  return chapter.start + k;
}

function tokenAtPoint(x, y) {
  if (document.caretPositionFromPoint) {
    const at = document.caretPositionFromPoint(x, y);
    return at ? tokenAt(at.offsetNode, at.offset) : NONE;
  }
  const range = document.caretRangeFromPoint?.(x, y);
  return range ? tokenAt(range.startContainer, range.startOffset) : NONE;
}

/** Bring tokens to the screen; returns how long it took in milliseconds. */
function jump(start, end = start, { highlight = false, link = true } = {}) {
  const begun = performance.now();
  start = Math.max(0, Math.min(start, DATA.tokens - 1));
  end = Math.max(start, Math.min(end, DATA.tokens - 1));
  const chapter = chapterAt(start);
  for (const c of [chapters[chapter.number - 1], chapter, chapters[chapter.number + 1]]) if (c) fill(c);
  const range = rangeOf(start, end);
  if (range) {
    const box = range.getBoundingClientRect();
    const low = $("detail").hidden || innerWidth > 1150 ? 0.35 : 0.22;
    if (box.top < 130 || box.bottom > innerHeight * (low + 0.25)) scrollTo({ top: scrollY + box.top - innerHeight * low });
    if (window.Highlight) {
      if (highlight) CSS.highlights.set("found", new Highlight(range)); else CSS.highlights.delete("found");
    }
  }
  state.token = start;
  if (link) history.replaceState(null, "", `#t=${start}`);
  drawStrip();
  return performance.now() - begun;
}

/** The last token on the screen: how far the reader has come. */
function place() {
  const box = $("text").getBoundingClientRect();
  for (let y = innerHeight - 8; y > 120; y -= 24) {
    const token = tokenAtPoint(Math.min(box.left + box.width / 2, innerWidth - 10), y);
    if (token !== NONE) return token;
  }
  return state.token;
}

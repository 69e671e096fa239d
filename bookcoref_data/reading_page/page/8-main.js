// Everything together: listeners, keys, first paint.

function setTheme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  drawStrip();
}

function clickText(event) {
  const selection = getSelection();
  if (!selection.isCollapsed && $("text").contains(selection.anchorNode)) {
    const range = selection.getRangeAt(0);
    const start = tokenAt(range.startContainer, range.startOffset), end = tokenAt(range.endContainer, Math.max(0, range.endOffset - 1));
    if (start !== NONE && end >= start && end - start < 60) {
      const i = findMention(start, end) ?? NONE;
      state.current = i; state.token = start;
      showDetail(start, end, i);
    }
    return;
  }
  const mark = event.target.closest("[data-d]");
  if (mark) return showDifference(differences[mark.dataset.d]);
  const token = tokenAtPoint(event.clientX, event.clientY);
  if (token === NONE) return;
  const over = mentionsAround(token, token).filter(visible).sort((a, b) => book.end[a] - book.start[a] - (book.end[b] - book.start[b]));
  if (over.length) return select(over[0], { scroll: false });
  state.current = NONE; state.token = token;
  document.querySelectorAll("main .current").forEach((e) => e.classList.remove("current"));
  history.replaceState(null, "", `#t=${token}`);
  showDetail(token, token);
  drawStrip();
}

const openPane = (name, field) => { document.body.classList.add("menu"); $("menu").setAttribute("aria-expanded", "true"); showTab(name); $(field)?.focus(); };
const KEYS = {
  n: () => walk(1), p: () => walk(-1), j: () => walk(1, true), k: () => walk(-1, true), u: nextDoubtful,
  "]": () => byChapter(1), "[": () => byChapter(-1), "/": () => openPane("Search", "search"), c: () => openPane("People", "find"),
  e: () => $("thisis")?.focus(), x: () => state.current !== NONE && correctNobody(state.current), z: undo,
  d: () => walkDifferences(1), D: () => walkDifferences(-1), "?": helpDialog,
  Escape: () => { closeMenu(); closeDetail(); },
};

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || $("dialog").open) return;
  const typing = event.target.closest("input, select, textarea");
  if (typing && event.key !== "Escape") return;
  if (typing) return typing.blur();
  if (KEYS[event.key]) { event.preventDefault(); KEYS[event.key](); }
});

function goToHash() {
  const found = /^#t=(\d+)$/.exec(location.hash);
  if (found) jump(+found[1], +found[1], { highlight: true, link: false });
  return Boolean(found);
}

let scrollTimer = 0;
addEventListener("scroll", () => {
  clearTimeout(scrollTimer);
  scrollTimer = setTimeout(() => {
    const seen = place();
    if (seen > reach) {
      reach = seen;
      keep.set("reach", reach);
      if (state.spoiler) { showTab(tab); }
    }
    const top = tokenAtPoint(Math.min(innerWidth - 12, $("text").getBoundingClientRect().left + $("text").clientWidth / 2), innerHeight * 0.35);
    if (top !== NONE) { state.token = top; keep.set("place", top); }
    drawStrip();
  }, 120);
}, { passive: true });

function start() {
  document.title = DATA.title;
  $("title").textContent = DATA.title;
  setTheme((keep.get("theme") || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark");
  loadBase();
  rankCharacters();
  loadEdits();
  buildSections();
  reach = +(keep.get("reach") || 0);
  state.spoiler = (keep.get("spoiler") ?? (DATA.spoiler ? "1" : "")) === "1";
  $("spoiler").setAttribute("aria-pressed", state.spoiler);
  chapters.slice(0, 1).forEach((c) => fill(c));
  chapters.forEach((c) => near.observe(c.section));
  if (!goToHash() && keep.get("place")) jump(+keep.get("place"), undefined, { link: false });
  if (!reach) reach = place();
  $("people").replaceChildren(...(state.spoiler ? [] : book.names.map((name) => h("option", { value: name }))));
  showTab(DATA.compared ? "Differences" : "People");
  drawStrip();
  $("text").addEventListener("click", clickText);
  $("text").addEventListener("mouseover", (e) => { const m = e.target.closest("[data-m]"); if (m) m.title = labelOf(book.character[m.dataset.m]); });
  $("strip").addEventListener("click", stripClick);
  $("strip").addEventListener("keydown", (e) => { if (e.key === "ArrowRight") byChapter(1); else if (e.key === "ArrowLeft") byChapter(-1); });
  $("close").addEventListener("click", closeDetail);
  $("help").addEventListener("click", helpDialog);
  $("theme").addEventListener("click", () => { const dark = document.documentElement.dataset.theme !== "dark"; keep.set("theme", dark ? "dark" : "light"); setTheme(dark); });
  $("labels").addEventListener("click", (e) => { const on = document.body.classList.toggle("labels"); e.target.setAttribute("aria-pressed", on); });
  $("spoiler").addEventListener("click", () => {
    state.spoiler = !state.spoiler;
    keep.set("spoiler", state.spoiler ? "1" : "");
    $("spoiler").setAttribute("aria-pressed", state.spoiler);
    refreshAll();
    if (state.spoiler) $("people").replaceChildren();
  });
  $("menu").addEventListener("click", () => { const open = document.body.classList.toggle("menu"); $("menu").setAttribute("aria-expanded", open); });
  addEventListener("resize", drawStrip);
  addEventListener("hashchange", goToHash);
}
start();
requestAnimationFrame(() => setTimeout(() => { document.documentElement.dataset.ready = Math.round(performance.now()); }));

// Differences between two annotations of the same text.

const ERRORS = ["missed", "spurious", "merged", "split"];
const EXPLAIN = {
  missed: "only in the first annotation", spurious: "only in the second annotation",
  merged: "the second gives it to another character", split: "the second gives it to a group of its own",
};
const differences = [];
const wantedErrors = [true, true, true, true];
if (DATA.compared) {
  let at = 0;
  const flat = DATA.compared.rows;
  for (let i = 0; i < flat.length; i += 5) {
    at += flat[i];
    differences.push({ number: i / 5, start: at, end: at + flat[i + 1], kind: flat[i + 2], first: flat[i + 3], second: flat[i + 4] });
  }
}
const shownDifferences = () => differences.filter((d) => wantedErrors[d.kind] && d.start <= limit());

function differencesIn(from, to) {
  const of = (d) => d.start;
  return differences.slice(lowest(differences, of, from), lowest(differences, of, to)).filter((d) => wantedErrors[d.kind]);
}

const secondName = (c) => (c === NONE ? "nobody" : DATA.compared.names[c]);

function showDifference(d) {
  state.difference = d.number;
  jump(d.start, d.end);
  document.querySelectorAll("main .current").forEach((e) => e.classList.remove("current"));
  document.querySelectorAll(`main [data-d="${d.number}"]`).forEach((e) => e.classList.add("current"));
  $("detail").hidden = false;
  const i = findMention(d.start, d.end) ?? NONE;
  $("about").replaceChildren(
    h("h2", {}, `“${wordsOf(d.start, d.end)}”`), h("p", {}, h("strong", {}, ERRORS[d.kind]), `: ${EXPLAIN[ERRORS[d.kind]]}.`),
    h("ul", {}, h("li", {}, `${DATA.compared.first}: ${d.first === NONE ? "nobody" : labelOf(d.first)}`), h("li", {}, `${DATA.compared.second}: ${secondName(d.second)}`)),
    h("h3", {}, "Correct"), mentionForm(d.start, d.end, i));
  say(`${ERRORS[d.kind]}: ${wordsOf(d.start, d.end)}`);
}

function walkDifferences(step) {
  const list = shownDifferences();
  if (!list.length) return toast(DATA.compared ? "No difference of these kinds." : "This page shows one annotation.");
  let at = list.findIndex((d) => d.number === state.difference);
  if (at < 0) at = lowest(list, (d) => d.start, state.token) - (step > 0 ? 1 : 0);
  showDifference(list[(at + step + list.length) % list.length]);
}

function differencesTab() {
  const count = ERRORS.map((_, k) => differences.filter((d) => d.kind === k).length);
  const boxes = h("fieldset", { class: "filters" }, h("legend", {}, `${DATA.compared.first} and ${DATA.compared.second}`),
    ERRORS.map((name, k) => h("label", { title: EXPLAIN[name] }, h("input", { type: "checkbox", checked: wantedErrors[k], onchange: (e) => { wantedErrors[k] = e.target.checked; refill(); showTab("Differences"); } }), `${name} (${number(count[k])})`)));
  const items = h("ol", {});
  const { note, show } = portions(items, 300, (d) => h("li", {}, h("button", { onclick: () => { showDifference(d); closeMenu(); } }, inContext(d.start, d.end), h("small", {}, ERRORS[d.kind]))));
  show(shownDifferences());
  return [h("p", { class: "note" }, `${number(DATA.compared.same)} mentions are the same in both.`), boxes,
    h("div", { class: "buttons" }, h("button", { onclick: () => walkDifferences(-1), title: "D" }, "‹ Previous"), h("button", { onclick: () => walkDifferences(1), title: "d" }, "Next ›"),
      h("button", { onclick: differenceTable }, "By chapter")), note, items];
}

function differenceTable() {
  const rows = headings.filter((c) => c.start <= limit()).map((c) => [titleOf(c), ...ERRORS.map((_, k) => differences.filter((d) => d.kind === k && d.start >= c.start && d.start < c.end).length)]);
  const head = ["chapter", ...ERRORS];
  openDialog("Differences by chapter", h("p", {}, h("button", { onclick: () => download(`${DATA.key}.differences.csv`, "text/csv", csv([head, ...rows])) }, "Save as CSV")),
    h("div", { class: "wide", tabindex: 0 }, h("table", {}, h("thead", {}, h("tr", {}, head.map((c) => h("th", { scope: "col" }, c)))),
      h("tbody", {}, rows.map((row) => h("tr", {}, row.map((v) => h("td", { class: v === 0 ? "zero" : null }, String(v)))))))));
}

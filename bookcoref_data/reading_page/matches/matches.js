"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const PAGE = 50;
const $ = (id) => document.getElementById(id);
const mine = new Map(); // place of a work -> {choice: number or null, why}
let first = 0;

function make(tag, text, className) {
  const element = document.createElement(tag);
  if (text) element.textContent = text;
  if (className) element.className = className;
  return element;
}

function link(text, address) {
  if (!/^https?:\/\//.test(address)) return make("span", text);
  const element = make("a", text);
  element.href = address;
  element.target = "_blank";
  element.rel = "noopener noreferrer";
  return element;
}

const book = (number) => "https://www.gutenberg.org/ebooks/" + number;

function shown() {
  const which = $("which").value, words = $("find").value.toLowerCase().split(/\s+/).filter(Boolean);
  return data.works.map((work, place) => ({ work, place })).filter(({ work, place }) => {
    if (which === "review" && !work.review) return false;
    if (which === "matched" && !work.gutenberg_id) return false;
    if (which === "unmatched" && work.gutenberg_id) return false;
    if (which === "decided" && !mine.has(place)) return false;
    const text = [work.title, work.author, work.work_id, work.gutenberg_id || "",
      ...work.records.map((r) => r.id + " " + r.title)].join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

function draw() {
  const found = shown();
  first = Math.max(0, Math.min(first, Math.floor(Math.max(0, found.length - 1) / PAGE) * PAGE));
  const part = found.slice(first, first + PAGE);
  $("works").replaceChildren(...part.map(({ work, place }) => card(work, place)));
  if (!part.length) $("works").append(make("p", "No works here."));
  $("count").textContent = found.length ? `${first + 1} to ${first + part.length} of ${found.length}` : "";
  $("earlier").disabled = first === 0;
  $("later").disabled = first + PAGE >= found.length;
}

function card(work, place) {
  const article = make("article", "", mine.has(place) ? "mine" : "");
  article.append(about(work), choices(work, place, article));
  article.querySelector(".confirm").setAttribute("aria-pressed", confirmed(work, place));
  return article;
}

function about(work) {
  const left = make("div");
  const title = make("div", "", "title");
  title.append(link(work.title, work.link));
  left.append(title, make("div", work.author || "no author"));
  left.append(make("div", `${work.source} ${work.work_id}`, "small"));
  const more = work.characters > work.names.length ? ", ..." : "";
  left.append(make("div", `${work.characters} characters: ${work.names.join(", ")}${more}`, "small"));
  if (work.left_out.length) left.append(make("div", `left out: ${work.left_out.join(", ")}`, "small"));
  if (work.review) left.append(make("div", work.review, "flag"));
  left.append(make("div", work.reason, "small"));
  if (work.book) left.append(make("div", work.book, "small"));
  return left;
}

function choices(work, place, article) {
  const right = make("div"), list = make("ul"), name = "w" + place;
  const decided = mine.get(place);
  const current = decided ? decided.choice : work.gutenberg_id;
  const rows = work.records.map((record) => ({ number: record.id, record }));
  rows.push({ number: null });
  for (const row of rows) list.append(choice(row, name, current === row.number, () => decide(work, place, row.number, article)));
  const other = make("li"), label = make("label", "another book: "), number = make("input");
  number.type = "number";
  number.min = 1;
  number.setAttribute("aria-label", "number of another book");
  const unlisted = (id) => (id && !work.records.some((r) => r.id === id) ? id : "");
  number.value = unlisted(current);
  number.addEventListener("change", () => {
    if (Number(number.value) > 0) decide(work, place, Number(number.value), article);
    for (const radio of list.querySelectorAll("input[type=radio]")) radio.checked = false;
  });
  label.append(number);
  other.append(label);
  list.append(other);
  const why = make("input", "", "why");
  why.placeholder = "why (kept with your decision)";
  why.value = decided ? decided.why : "";
  why.addEventListener("input", () => {
    if (mine.has(place)) mine.get(place).why = why.value;
    write();
  });
  const confirm = make("button", work.gutenberg_id ? "Right as it is" : "Right, no book", "confirm");
  confirm.type = "button";
  confirm.addEventListener("click", () => {
    if (confirmed(work, place)) mine.delete(place);
    else mine.set(place, { choice: work.gutenberg_id, why: why.value });
    rows.forEach((row, at) => { list.children[at].querySelector("input").checked = row.number === work.gutenberg_id; });
    number.value = unlisted(work.gutenberg_id);
    mark(work, place, article);
  });
  const line = make("div", "", "line");
  line.append(confirm, why);
  right.append(list, line);
  return right;
}

function confirmed(work, place) {
  return mine.has(place) && mine.get(place).choice === work.gutenberg_id;
}

function mark(work, place, article) {
  article.classList.toggle("mine", mine.has(place));
  article.querySelector(".confirm").setAttribute("aria-pressed", confirmed(work, place));
  write();
}

function choice(row, name, checked, act) {
  const item = make("li"), label = make("label"), radio = make("input");
  radio.type = "radio";
  radio.name = name;
  radio.checked = checked;
  radio.addEventListener("change", act);
  label.append(radio, " ");
  if (row.number === null) label.append("no book");
  else {
    label.append(link(String(row.number), book(row.number)), ` ${row.record.title}`);
    const facts = [row.record.author, row.record.downloads ? `${row.record.downloads.toLocaleString("en")} downloads` : ""];
    label.append(make("span", ` ${facts.filter(Boolean).join(", ")}`, "small"));
    if (row.record.refused) label.append(make("div", `not taken: ${row.record.refused}`, "small"));
  }
  item.append(label);
  return item;
}

function decide(work, place, number, article) {
  const why = article.querySelector(".why").value;
  if (number === work.gutenberg_id) mine.delete(place);
  else mine.set(place, { choice: number, why });
  mark(work, place, article);
}

const quoted = (text) => JSON.stringify(text).replace(/\u007f/g, "\\u007f");

function toml() {
  return [...mine].sort(([a], [b]) => a - b).map(([place, { choice, why }]) => {
    const work = data.works[place];
    return ["[[override]]", `# ${work.title} (${work.author || "no author"})`.replace(/[\r\n]+/g, " "),
      `source = ${quoted(work.source)}`, `work_id = ${quoted(work.work_id)}`,
      ...(choice === null ? [] : [`gutenberg_id = ${choice}`]),
      `reason = ${quoted(why.trim() || (choice === work.gutenberg_id ? "right as it is" : "decided by a person"))}`, ""].join("\n");
  }).join("\n");
}

function write() {
  $("toml").textContent = toml() || "Nothing decided yet.";
  $("save").disabled = mine.size === 0;
}

$("save").addEventListener("click", () => {
  const anchor = make("a");
  anchor.href = "data:application/toml;charset=utf-8," + encodeURIComponent(toml());
  anchor.download = "decisions.toml";
  anchor.click();
});
for (const id of ["which", "find"]) $(id).addEventListener("input", () => { first = 0; draw(); });
$("earlier").addEventListener("click", () => { first -= PAGE; draw(); scrollTo(0, 0); });
$("later").addEventListener("click", () => { first += PAGE; draw(); scrollTo(0, 0); });
window.addEventListener("beforeunload", (event) => { if (mine.size) event.preventDefault(); });
const looked = data.works.filter((work) => work.review).length;
const matched = data.works.filter((work) => work.gutenberg_id).length;
$("summary").textContent = `${data.works.length} works, ${matched} with a book; ${looked} to look at. ` +
  "Say that a record is right, or choose another, or none; then save your decisions below.";
if (!looked) $("which").value = "all";
write();
draw();

// The cast workshop: who is proposed, which names are whose, and what a person changes. What is saved is a cast file.
const KEYS = "123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", BINS = 240, RANGE = /^\d+(-\d*)?(,\d+(-\d*)?)*$/;
let people, names, lines, partners, doubts, notes; // what the book says of the file, and what was changed since
let current, base = 0, unsaved = false, failed = "", onTheWay = 0; // base: the first of the ten people whom digits lead to
const history = [], dismissed = new Set();

const shown = () => people.map((_, i) => i).filter((i) => !people[i].gone).sort((a, b) => order(a) - order(b));
const order = (i) => people[i].rank;
const mine = (who) => names.filter((n) => n.owner === who).sort((a, b) => b.at.length - a.at.length);
const times = (who) => mine(who).reduce((sum, n) => sum + n.at.length, 0);
const nameOf = (who) => people[who].names[0];

/** Take over what a file and the book say; who was here before keeps his or her place in the list. */
function load(data, ranks = new Map()) {
  ({ lines, partners, doubts, notes } = data);
  people = data.people.map((p) => ({ ...p, changed: false, gone: "" }));
  names = data.names.map((n) => ({ ...n }));
  people.map((p, i) => [times(i), p]).sort((a, b) => b[0] - a[0]).forEach(([, p], rank) => { p.rank = ranks.get(p.names[0]) ?? rank; });
}
load(DATA);

const clean = (text) => text.replace(/[;#[\]\s]+/g, " ").trim();
const big = (text) => text[0].toUpperCase() + text.slice(1);
const same = (a, b) => folded(a) === folded(b);
const sureTitle = /^(mr|mrs|miss|ms|dr|sir|lady|lord|the|of|de|captain|colonel|general|aunt|uncle|old|young|master|madame|doctor)$/;
const wordsOf = (text) => folded(text).split(" ").filter((w) => w && !sureTitle.test(w));

// --- the cast file -----------------------------------------------------------------------------------------
const lineOf = (p) => p.names.join("; ") + (p.gender ? ` [${p.gender}]` : "") + (p.told ? ` [narrator${p.told === "all" ? "" : ` ${p.told}`}]` : "");

/** The text of the file: untouched lines as they were, and of the others every comment. */
function fileText() {
  const text = [...lines];
  for (const p of people) {
    const [first, ...rest] = p.lines;
    if (!p.gone && !p.changed) continue;
    for (const k of p.gone ? p.lines : rest) text[k] = `# ${p.gone || `in ${p.names[0]}`}: ${lines[k]}`;
    if (p.gone) continue;
    const comment = first === undefined ? "" : (lines[first].match(/\s*#.*$/) || [""])[0];
    if (first === undefined) text.push(lineOf(p)); else text[first] = lineOf(p) + comment;
  }
  return text.join("\n") + "\n";
}

async function keep() {
  unsaved = true;
  if (!DATA.server) return;
  onTheWay += 1;
  drawState();
  failed = await save(fileText()) ? "" : notSaved;
  onTheWay -= 1;
  unsaved = failed !== "" || onTheWay > 0;
  drawState();
  if (!unsaved) readAgain();
}

/** What the annotator will make of the saved file: by its rules a name that somebody lost may be another's. */
async function readAgain() {
  const page = await fetch("").catch(() => null);
  if (!page?.ok) return;
  const fresh = JSON.parse(new DOMParser().parseFromString(await page.text(), "text/html").getElementById("data").textContent);
  // A change that was refused since is not in the file: it stays.
  const take = () => { if (!unsaved && fresh.server.version === DATA.server.version) adopt(fresh); };
  if ($("dialog").open) $("dialog").addEventListener("close", take, { once: true }); else take();
}

function adopt(fresh) {
  const ownerOf = (who) => (who < 0 ? "nobody" : nameOf(who)), here = nameOf(current), counts = new Map();
  const shownOwners = new Map([...places(names)].map(([at, who]) => [at, ownerOf(who)]));
  load(fresh, new Map(shown().map((i) => [nameOf(i), order(i)])));
  current = people.findIndex((p) => p.names[0] === here);
  for (const [at, who] of places(names)) {
    const now = ownerOf(who);
    if (shownOwners.has(at) && shownOwners.get(at) !== now) counts.set(now, (counts.get(now) || 0) + 1);
  }
  const told = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 4).map(([who, n]) => `${number(n)} ${n === 1 ? "mention goes" : "mentions go"} to ${who}`);
  if (told.length) say(`Read again with these names: ${told.join(", ")}.`);
  draw();
}
const toFile = () => { download(DATA.file, "text/plain", fileText()); unsaved = false; drawState(); };

// --- changes -----------------------------------------------------------------------------------------------
const snapshot = () => ({ lines, partners, doubts, notes, people: people.map((p) => ({ ...p, names: [...p.names] })), names: names.map((n) => ({ ...n })), current, dismissed: [...dismissed] });
const places = (all) => new Map(all.flatMap((n) => n.at.map((at) => [at, n.owner])));

/** Do something to the cast, say how many mentions move, and save. `what` may need to know what became of it. */
function change(what, work) {
  const before = snapshot(), was = places(before.names);
  work();
  history.push(before);
  base = 0;
  const moved = [...places(names)].filter(([at, owner]) => was.get(at) !== owner).length, told = typeof what === "string" ? what : what();
  say(moved ? `${told} ${number(moved)} ${moved === 1 ? "mention moves" : "mentions move"}.` : told);
  draw();
  keep();
}

function undo() {
  const before = history.pop();
  if (!before) return say("Nothing to undo.");
  ({ lines, partners, doubts, notes, people, names, current } = before);
  dismissed.clear();
  before.dismissed.forEach((key) => dismissed.add(key));
  say("Taken back.");
  draw();
  keep();
}

function listed(who, text) {
  const p = people[who];
  p.changed = true;
  if (!p.names.some((n) => same(n, text))) p.names.push(clean(text));
}

/** List the names that somebody has alone by a rule: it goes by the listed name, which may change now. */
function spellOut(who) {
  for (const n of mine(who)) if (!names.some((o) => o.owner !== who && same(o.text, n.text))) listed(who, n.text);
}

/** Somebody who lost a name: without any name in the book or the list nobody is left. */
function without(who, text) {
  const p = people[who];
  p.changed = true;
  p.names = p.names.filter((n) => !same(n, text));
  if (p.names.length) return;
  const [left] = mine(who);
  if (left) p.names = [left.text]; else p.gone = "all names are somebody else's";
}

/** Give names of the book to somebody; all places with the same words go along. */
function give(chosen, to) {
  for (const text of new Set(chosen.map((n) => n.text))) {
    const from = new Set();
    for (const n of names) if (same(n.text, text) && n.owner !== to) { if (n.owner >= 0) from.add(n.owner); n.owner = to; n.why = "given by you"; }
    listed(to, text);
    for (const who of from) without(who, text);
  }
}

function newPerson(text, after) {
  people.push({ names: [clean(text)], gender: "", told: "", lines: [], changed: true, gone: "", rank: after === undefined ? -people.length : order(after) + 1e-6 * people.length });
  return people.length - 1;
}

function merge(one, other) {
  change(`${nameOf(other)} is ${nameOf(one)}.`, () => {
    const a = people[one], b = people[other];
    spellOut(other);
    for (const n of b.names) listed(one, n);
    for (const n of names) if (n.owner === other) n.owner = one;
    a.gender ||= b.gender;
    a.told ||= b.told;
    b.gone = `in ${a.names[0]}`;
    current = one;
  });
}

/** Names of somebody become a person of their own; the longest is its name. */
function splitOff(chosen) {
  const from = chosen[0].owner;
  const main = [...chosen].sort((a, b) => b.text.split(" ").length - a.text.split(" ").length || b.at.length - a.at.length)[0];
  if (shown().some((i) => i !== from && same(nameOf(i), main.text))) return say(`Somebody is called ${main.text} already: take "somebody else's".`);
  change(() => `${main.text} is not ${nameOf(from)}.`, () => {
    const made = newPerson(main.text, from);
    give(chosen, made);
    current = people[from].gone ? made : from;
  });
}

function drop(who) {
  const row = shown(), at = row.indexOf(who);
  change(`${nameOf(who)} is dropped.`, () => {
    people[who].gone = "dropped";
    for (const n of names) if (n.owner === who) n.owner = -1;
    current = row[at + 1] ?? row[at - 1] ?? 0;
  });
}

function setName(who, text) {
  const taken = people.findIndex((p, i) => i !== who && !p.gone && same(p.names[0], text));
  if (!clean(text)) return;
  if (taken >= 0) return say(`Somebody else is called ${text}: join the two with m.`);
  change(`${nameOf(who)} is called ${clean(text)}.`, () => {
    const p = people[who];
    spellOut(who);
    p.changed = true;
    p.names = [clean(text), ...p.names.filter((n) => !same(n, text))];
  });
}

/** From a chapter on, a name means somebody else. */
function fromChapter(name, chapter) {
  const start = DATA.chapters.find(([n]) => String(n) === chapter)?.[1];
  if (start === undefined) return say(`The book has no chapter “${chapter}”.`);
  change(`From chapter ${chapter} on, ${name.text} is somebody else.`, () => {
    const made = newPerson(`${name.text} (from chapter ${chapter})`, name.owner);
    people[made].names.push(`${clean(name.text)}:${chapter}-`);
    const later = name.at.filter((at) => at >= start);
    names.push({ ...name, at: later, owner: made, why: `from chapter ${chapter}` });
    name.at = name.at.filter((at) => at < start);
    current = made;
  });
}

// --- dialogs: a key for each choice ------------------------------------------------------------------------
let dialogKeys = {};
$("dialog").addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || e.target.tagName === "INPUT") return;
  const does = dialogKeys[e.key];
  e.stopPropagation(); // a dialog that closes leaves the key to nobody
  if (does) { e.preventDefault(); does(); }
});
const close = (then) => () => { $("dialog").close(); then(); };

/** Choices with keys; a name may be typed as well. A choice is {says, does, key?, pressed?}. Of the names `typed.among`,
 * [text, times], those are shown that fit what is typed; a digit takes one of them. */
function ask(title, choices, typed, ...more) {
  dialogKeys = {};
  const items = choices.map((c, i) => {
    const key = c.key || KEYS[i];
    if (key) dialogKeys[key] = c.does;
    return h("li", {}, h("button", { onclick: c.does, "aria-pressed": c.pressed === undefined ? null : String(c.pressed) }, key && h("kbd", {}, key), c.says));
  });
  const list = h("ul", { class: "choices" }, items), take = (text) => close(() => typed.take(text));
  let fits = [];
  const narrow = () => {
    const begun = folded(field.value).split(" "), fit = ([text]) => begun.every((w) => folded(text).split(" ").some((own) => own.startsWith(w)));
    fits = field.value.trim() ? typed.among.filter(fit).slice(0, 9) : [];
    list.replaceChildren(...(field.value.trim() ? fits.map(([text, n], i) => h("li", {}, h("button", { onclick: take(text) }, h("kbd", {}, KEYS[i]), counted(text, n)))) : items));
  };
  const digit = (e) => { const one = /^[1-9]$/.test(e.key) && fits[e.key - 1]; if (one) { e.preventDefault(); take(one[0])(); } };
  const field = typed && h("input", { "aria-label": typed.says, placeholder: typed.among ? `${typed.says}: letters, then a digit` : typed.says, autocomplete: "off", oninput: typed.among && narrow, onkeydown: digit });
  if (typed) dialogKeys["/"] = () => field.focus();
  openDialog(title, list, more,
    typed ? h("form", { class: "buttons", onsubmit: (e) => { e.preventDefault(); $("dialog").close(); typed.take(field.value.trim()); } }, field, h("button", {}, typed.button || "Take this")) : []);
  if (typed?.first) field.focus(); else ($("dialog").querySelector(".choices button") || $("dialog").querySelector("button")).focus();
}
const counted = (text, n) => [text, h("span", { class: "note" }, ` ${number(n)}`)];

/** Others, likeliest to be one with somebody first. */
function likely(who) {
  const near = new Map();
  for (const [a, b, weight] of partners) if (a === who || b === who) near.set(a === who ? b : a, weight);
  const own = new Set(people[who].names.concat(mine(who).map((n) => n.text)).flatMap(wordsOf));
  const shares = (i) => people[i].names.some((n) => wordsOf(n).some((w) => own.has(w)));
  const rank = (i) => Math.max(near.get(i) ?? -8, -8) + (shares(i) ? 6 : 0) + Math.log1p(times(i)) / 4;
  return shown().filter((i) => i !== who).map((i) => [rank(i), i]).sort((a, b) => b[0] - a[0]).map(([, i]) => i);
}

const everybody = () => shown().map((i) => [nameOf(i), times(i)]);
const byTimes = (some) => [...some].sort((a, b) => b.at.length - a.at.length).map((n) => [n.text, n.at.length]);
const chooseWho = (title, who, take) => ask(title, likely(who).slice(0, KEYS.length).map((i) => ({ says: counted(nameOf(i), times(i)), does: close(() => take(i)) })),
  { says: "Another name", among: everybody(), take: (text) => { const found = find(text); if (found !== undefined) take(found); } });

/** The one whom a typed name fits. */
function find(text) {
  const fits = fitting(text, shown().flatMap((i) => people[i].names));
  const who = [...new Set(fits.map((n) => shown().find((i) => people[i].names.includes(n))))];
  if (who.length === 1) return who[0];
  say(who.length ? `${who.length} people may be called ${text}.` : `Nobody is called ${text}.`);
}

function chooseNames(picked = new Set()) {
  const who = current, all = mine(who);
  if (all.length < 2) return say(`${nameOf(who)} has one name only.`);
  const telling = (text) => folded(text).split(" ").filter((w) => w !== "the" && !folded(nameOf(who)).split(" ").includes(w));
  const toggle = (n) => () => {
    const alike = all.filter((other) => other === n || (telling(n.text).length && telling(n.text).every((w) => folded(other.text).split(" ").includes(w))));
    const doubt = doubts.map(([ks]) => ks.map((k) => names[k])).find((ns) => ns.includes(n) && ns.every((one) => one.owner === who)) || [];
    const off = picked.has(n);
    for (const one of off ? [n] : alike.length < all.length ? [...alike, ...doubt] : [n]) off ? picked.delete(one) : picked.add(one);
    chooseNames(picked);
  };
  const done = (then) => () => picked.size ? close(() => then([...picked]))() : say("Choose names first.");
  const alone = done((chosen) => chosen.length === all.length ? say("Leave a name behind.") : splitOff(chosen));
  const other = done((chosen) => chooseWho("Whose are they?", who, (to) => change(`${chosen.map((n) => n.text).join(", ")} now means ${nameOf(to)}.`, () => give(chosen, to))));
  ask(`Which names are not ${nameOf(who)}?`, all.map((n) => ({ says: counted(n.text, n.at.length), does: toggle(n), pressed: picked.has(n) })), null,
    h("p", { class: "buttons" }, h("button", { onclick: alone }, h("kbd", {}, "Enter"), "a person of their own"), h("button", { onclick: other }, h("kbd", {}, "+"), "somebody else's")));
  Object.assign(dialogKeys, { Enter: alone, "+": other });
}

function addName() {
  const who = current, own = new Set(people[who].names.flatMap(wordsOf)), near = likely(who);
  const stems = [...own].filter((w) => w.length > 3).map((w) => w.slice(0, 4)); // Bethy beside Beth
  const pool = names.filter((n) => n.owner !== who && n.at.length), shares = (n) => wordsOf(n.text).some((w) => own.has(w) || stems.includes(w.slice(0, 4)));
  const most = (list, rank, count) => list.map((n) => [rank(n), n]).sort((a, b) => b[0] - a[0]).slice(0, count).map(([, n]) => n);
  const akin = most(pool.filter(shares), (n) => n.at.length, 20);
  const free = most(pool.filter((n) => n.owner < 0 && !akin.includes(n)), (n) => n.at.length * (n.person ? 3 : 1), KEYS.length - akin.length - 10);
  const theirs = most(pool.filter((n) => n.owner >= 0 && !akin.includes(n)), (n) => n.at.length / 1e6 - near.indexOf(n.owner), KEYS.length);
  const offered = [...akin, ...free, ...theirs].slice(0, KEYS.length);
  const take = (text) => text && change(`${nameOf(who)} is also called ${clean(text)}.`, () => { const found = names.filter((n) => same(n.text, text)); found.length ? give(found, who) : listed(who, text); });
  ask(`What else is ${nameOf(who)} called?`, offered.map((n) => ({ says: counted(n.owner >= 0 ? `${n.text} (${nameOf(n.owner)})` : n.text, n.at.length), does: close(() => take(n.text)) })), { says: "Another name", take, among: byTimes(pool) });
}

function addPerson() {
  const take = (text) => {
    if (!clean(text)) return;
    if (shown().some((i) => same(nameOf(i), text))) return say(`${text} is in the cast.`);
    change(`${clean(text)} is new in the cast.`, () => { const made = newPerson(text); const found = names.filter((n) => same(n.text, text)); if (found.length) give(found, made); current = made; });
  };
  ask("Who is missing?", names.filter((n) => n.owner < 0).slice(0, KEYS.length).map((n) => ({ says: counted(n.text, n.at.length), does: close(() => take(n.text)) })), { says: "A name", take, button: "New person", among: byTimes(names.filter((n) => n.owner < 0)) });
}

function rename() {
  const who = current, known = [...new Set([...people[who].names.filter((n) => !n.includes(":")), ...mine(who).map((n) => n.text)])].slice(1);
  ask(`What shall ${nameOf(who)} be called?`, known.slice(0, KEYS.length).map((n) => ({ says: n, does: close(() => setName(who, n)) })), { says: "Another name", take: (text) => setName(who, text) });
}

function setField(field, value, told) {
  const who = current;
  change(`${nameOf(who)}: ${told}.`, () => { people[who][field] = value; people[who].changed = true; });
}
const GENDERS = [["m", "man", "m"], ["f", "woman", "f"], ["n", "neither: an animal, a thing", "n"], ["g", "a group of people", "group"], ["u", "not known", ""]];
const gender = () => ask(`${nameOf(current)} is`, GENDERS.map(([key, says, value]) => ({ key, says, does: close(() => setField("gender", value, says)) })));

function narrator() {
  const who = current;
  const take = (text) => {
    const where = text.replaceAll(" ", "");
    const pieces = (told) => told.split(",").map((piece) => piece.split("-")).map(([a, b = a]) => [+a, b === "" ? DATA.chapters.at(-1)?.[0] : +b]);
    const known = !where || (RANGE.test(where) && pieces(where).every(([a, b]) => a <= b && [a, b].every((n) => DATA.chapters.some(([c]) => c === n))));
    if (!known) return say(`The book has no chapters ${text}.`);
    const taken = where && people.find((p, i) => i !== who && !p.gone && RANGE.test(p.told) && pieces(p.told).some(([a, b]) => pieces(where).some(([c, d]) => a <= d && c <= b)));
    if (taken) return say(`${taken.names[0]} says I in chapters ${taken.told}: change that first.`);
    const others = people.filter((p, i) => i !== who && !p.gone && p.told === "all");
    change(`${nameOf(who)} says I ${where ? `in chapters ${where}` : "outside quotations"}.`, () => {
      if (!where) for (const p of others) { p.told = ""; p.changed = true; }
      Object.assign(people[who], { told: where || "all", changed: true });
    });
  };
  ask(`Where does ${nameOf(who)} say I, outside quotations?`, [], { says: "Chapters, such as 16-18; empty: the whole book", take, button: "Narrator (Enter)", first: true },
    people[who].told ? h("p", {}, h("button", { onclick: close(() => setField("told", "", "no narrator")) }, "Nowhere")) : []);
}

function wife() {
  const who = current;
  const surname = (p) => { const all = p.names.map((n) => n.split(" ")).filter((w) => w.length > 1 && !/\d/.test(w.at(-1))); return all.length ? all[0].at(-1) : p.names[0]; };
  const men = shown().filter((i) => i !== who && people[i].gender !== "f" && !/^(mrs|miss|lady|madame) /.test(folded(nameOf(i))));
  const take = (i) => { const text = `Mrs. ${surname(people[i])}`; change(`${nameOf(who)} is also called ${text}.`, () => { const found = names.filter((n) => same(n.text, text)); found.length ? give(found, who) : listed(who, text); people[who].gender ||= "f"; }); };
  ask(`Whose wife is ${nameOf(who)}?`, men.slice(0, KEYS.length).map((i) => ({ says: counted(nameOf(i), times(i)), does: close(() => take(i)) })));
}

function chapterName() {
  if (!DATA.chapters.length) return say("The book has no chapters with a number.");
  const take = (n) => () => ask(`From which chapter on is ${n.text} somebody else?`, [], { says: `Chapter, ${DATA.chapters[0][0]} to ${DATA.chapters.at(-1)[0]}`, take: (text) => fromChapter(n, text), button: "Two people (Enter)", first: true });
  ask("Two people of one name: which name?", mine(current).slice(0, KEYS.length).map((n) => ({ says: counted(n.text, n.at.length), does: take(n) })));
}

// --- questions ---------------------------------------------------------------------------------------------
/** What the book makes doubtful, as {key, text, yes}. */
function questions() {
  const one = partners.filter(([a, b, , why]) => why && !people[a].gone && !people[b].gone)
    .map(([a, b, , why]) => ({ key: `1 ${nameOf(a)}; ${nameOf(b)}`, text: `${nameOf(a)} (${number(times(a))}) and ${nameOf(b)} (${number(times(b))}): one person? ${big(why)}.`, yes: () => times(a) < times(b) ? merge(b, a) : merge(a, b), size: Math.min(times(a), times(b)) }));
  const two = doubts.map(([ks, why]) => [ks.map((k) => names[k]), ks, why])
    .filter(([ns]) => ns[0].owner >= 0 && ns.every((n) => n.owner === ns[0].owner && n.at.length) && mine(ns[0].owner).length > ns.length)
    .map(([ns, ks, why]) => ({ key: `2 ${nameOf(ns[0].owner)}; ${ns.map((n) => n.text)}`, text: `${nameOf(ns[0].owner)}: is ${ns.slice(0, 4).map((n) => n.text).join(", ")} somebody else? ${big(why)}.`, yes: () => splitOff(ns), size: ns.reduce((sum, n) => sum + n.at.length, 0) }));
  const has = (text, i) => people[i].names.some((n) => folded(text).split(" ").every((w) => w === "the" || folded(n).split(" ").includes(w)));
  const free = names.filter((n) => n.owner < 0 && n.at.length > 2).map((n) => [n, shown().filter((i) => has(n.text, i))]).filter(([, who]) => who.length === 1)
    .map(([n, [who]]) => ({ key: `3 ${nameOf(who)}; ${n.text}`, text: `${n.text} (${number(n.at.length)}), which nobody has: is it ${nameOf(who)}?`, size: n.at.length,
      yes: () => change(`${n.text} now means ${nameOf(who)}.`, () => give([n], who)) }));
  return [...one, ...two, ...free].filter((q) => !dismissed.has(q.key)).sort((a, b) => b.size - a.size);
}
const answerFirst = (yes) => { const [q] = questions(); if (!q) return say("No question is open."); yes ? q.yes() : no(q); };
function no(q) { history.push(snapshot()); dismissed.add(q.key); draw(); }

// --- the page ----------------------------------------------------------------------------------------------
function strip(who) {
  const make = (tag, attributes) => { const e = document.createElementNS("http://www.w3.org/2000/svg", tag); for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v); return e; };
  const bins = [...new Set(mine(who).flatMap((n) => n.at.map((at) => Math.floor(BINS * at / DATA.size))))];
  const svg = make("svg", { class: "strip", viewBox: `0 0 ${BINS} 10`, preserveAspectRatio: "none", "aria-hidden": "true" });
  svg.append(make("path", { d: bins.map((b) => `M${b + 0.5} 0V10`).join("") }));
  return svg;
}

const ACTIONS = [["m", "same person as …", () => chooseWho(`Who is the same person as ${nameOf(current)}?`, current, (i) => merge(current, i))], ["s", "two people …", () => chooseNames()],
  ["a", "add a name …", addName], ["r", "rename …", rename], ["g", "gender …", gender], ["t", "narrates …", narrator], ["w", "wife of …", wife], ["c", "two share a name …", chapterName], ["d", "drop", () => drop(current)]];

function row(who, at) {
  const p = people[who], own = mine(who), here = who === current;
  const passages = own.flatMap((n) => n.passages).slice(0, 2);
  const known = GENDERS.find(([, , value]) => value === p.gender);
  return h("li", { id: `p${who}`, tabindex: here ? "0" : "-1", onfocus: () => { if (current !== who) { current = who; draw(); } } },
    h("div", { class: "row" }, at >= base && at < base + 10 && h("kbd", {}, String((at - base + 1) % 10)), h("b", {}, nameOf(who)), p.gender && h("span", { class: "note" }, known[1]),
      p.told && h("span", { class: "note" }, p.told === "all" ? "narrator" : `narrator in chapters ${p.told}`), h("output", {}, `${number(times(who))} times`)),
    strip(who),
    h("div", {}, own.slice(0, here ? 60 : 8).flatMap((n, i) => [i ? " · " : "", n.text, h("span", { class: "note" }, ` ${number(n.at.length)}${n.why ? ` (${n.why})` : ""}`)]), !here && own.length > 8 ? " …" : ""),
    passages.map(([before, words, after]) => h("p", { class: "note" }, "… ", before, h("mark", {}, words), after, " …")),
    here && h("div", { class: "buttons" }, ACTIONS.map(([key, says, does]) => h("button", { onclick: does }, h("kbd", {}, key), says))));
}

function drawState() {
  const how = failed ? `not saved: ${failed} (z takes the change back, S saves it as a file)` : unsaved ? (DATA.server ? "saving …" : "not saved yet") : DATA.server && history.length ? "saved" : "";
  $("state").textContent = [`${shown().length} ${shown().length === 1 ? "person" : "people"}`, how].filter(Boolean).join(" · ");
}

function draw() {
  drawState();
  const open = questions(), row10 = shown();
  if (!row10.includes(current)) current = row10[0] ?? 0;
  const others = names.filter((n) => n.owner < 0 && n.at.length);
  $("main").replaceChildren(
    ...notes.map((note) => h("p", { class: "note" }, `${big(note)}.`)),
    h("h2", {}, open.length ? `${open.length} ${open.length === 1 ? "question" : "questions"}` : "No questions"),
    h("ul", { class: "people", id: "questions" }, open.slice(0, 4).map((q, i) => h("li", {}, q.text, h("div", { class: "buttons" },
      h("button", { onclick: q.yes }, !i && h("kbd", {}, "y"), "Yes"), h("button", { onclick: () => no(q) }, !i && h("kbd", {}, "x"), "No"))))),
    h("h2", {}, "People"),
    h("ul", { class: "people", id: "cast" }, row10.map(row)),
    h("h2", {}, "Names that nobody has"),
    h("p", {}, others.slice(0, 60).flatMap((n, i) => [i ? " · " : "", n.text, h("span", { class: "note" }, ` ${number(n.at.length)}`)]), others.length > 60 ? ` · and ${number(others.length - 60)} more: n and a part of the name` : ""),
    h("div", { class: "buttons" }, h("button", { onclick: addPerson }, h("kbd", {}, "n"), "new person …")));
  $(`p${current}`)?.focus({ preventScroll: true });
  $(`p${current}`)?.scrollIntoView({ block: "nearest" });
}

function help() {
  const all = [["1 … 0", "go to one of ten people"], ["Page Down, Page Up", "the next ten, the ten before"], ["arrows", "next, previous person"], ["/", "find a person"], ["y, x", "yes or no to the first question"],
    ...ACTIONS.map(([key, says]) => [key, says]), ["n", "new person"], ["z", "undo"], ["S", "save as a file"]];
  ask("Keys", [], null, h("dl", { class: "keys" }, all.flatMap(([key, says]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, says)])));
}
const step = (by) => { const all = shown(), to = all[all.indexOf(current) + by]; if (to !== undefined) { current = to; draw(); } };
const turn = (by) => { const to = base + by; if (to >= 0 && to < shown().length) { base = to; goTo(base); } };
const goTo = (at) => { const to = shown()[at]; if (to !== undefined) { current = to; draw(); } };

onKeys((key) => {
  if (/^\d$/.test(key)) return () => goTo(base + (+key + 9) % 10);
  const does = ACTIONS.find(([k]) => k === key);
  return does ? shown().length && does[2] : { ArrowDown: () => step(1), ArrowUp: () => step(-1), PageDown: () => turn(10), PageUp: () => turn(-10), y: () => answerFirst(true), x: () => answerFirst(false), n: addPerson, z: undo, S: toFile, "?": help,
    "/": () => ask("Who?", [], { says: "Name", first: true, among: everybody(), take: (text) => { const who = find(text); if (who !== undefined) { current = who; draw(); } } }) }[key];
});
addEventListener("beforeunload", (e) => { if (unsaved) e.preventDefault(); });
$("tools").replaceChildren(h("button", { onclick: undo }, h("kbd", {}, "z"), "Undo"), h("button", { onclick: toFile }, h("kbd", {}, "S"), "Save as a file"), h("button", { onclick: help }, h("kbd", {}, "?"), "Keys"));
draw();
document.documentElement.dataset.ready = "yes";

"use strict";
// What every page begins with: its data, elements, numbers, names as they are compared, files to save.

const $ = (id) => document.getElementById(id);
const DATA = JSON.parse($("data").textContent);
$("data").remove();

/** An element: attributes that begin with "on" are listeners, strings become text, never markup. */
function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  for (const child of children.flat()) if (child != null && child !== false) element.append(child);
  return element;
}

const number = (n) => n.toLocaleString("en");

/** A name as it is compared: bookcoref_data/words/folding.py. */
const folded = (name) => (name.replaceAll("’", "'").normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase()
  .replaceAll("'", "").match(/[\p{L}\p{N}]+/gu) || []).join(" ");

/** Whether one letter more, less, other, or exchanged with its neighbour makes `b` of `a`. */
function oneSlip(a, b) {
  if (Math.min(a.length, b.length) < 4) return false;
  if (a.length > b.length) [a, b] = [b, a];
  if (b.length - a.length > 1 || a === b) return false;
  let k = 0;
  while (k < a.length && a[k] === b[k]) k++;
  if (a.length < b.length) return a.slice(k) === b.slice(k + 1);
  return a.slice(k + 1) === b.slice(k + 1) || a.slice(0, k) + a[k + 1] + a[k] + a.slice(k + 2) === b;
}

/** Whom of `people`, each [name, other names ...], a typed name may mean, by the surest way in which it fits anybody: the rules
 * of bookcoref_data/edits/naming.py. */
function meant(typed, people) {
  const plain = folded(typed), words = plain.split(" ");
  const known = people.map((names) => names.map(folded)), apart = known.map((names) => names.flatMap((n) => n.split(" ")));
  const slips = (k) => words.filter((w) => !apart[k].includes(w));
  const ways = [(k) => known[k][0] === plain, (k) => known[k].includes(plain), (k) => !slips(k).length,
    (k) => slips(k).length === 1 && apart[k].some((w) => oneSlip(w, slips(k)[0]))];
  return (plain ? ways : []).map((way) => [...people.keys()].filter(way)).find((found) => found.length) || [];
}

/** Who has a word that begins like a typed name: to be offered where nobody is meant, never taken unasked. */
function begun(typed, people) {
  const plain = folded(typed);
  return plain ? [...people.keys()].filter((k) => people[k].some((name) => ` ${folded(name)}`.includes(` ${plain}`))) : [];
}

function download(name, type, text) {
  const link = h("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}


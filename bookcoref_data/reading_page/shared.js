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

function download(name, type, text) {
  const link = h("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}


// About one place: who is meant and why, the quote around it, and the forms that correct both.

/** The rules of the annotator in words for readers; other rules stand as the annotation has them. */
const RULES = {
  name: "the name itself", alias: "another name of this character", "first name": "the first name", "title + name": "the name with a title", "title + surname": "the surname with a title",
  "ranker: he, she, they": "the likeliest of the people around this place", "ranker: you": "the likeliest of those who are spoken to",
  "ranker: noun phrase": "the likeliest person that the words describe", "speaker of the quote": "who speaks the quotation says “I”", narrator: "who tells the story says “I”",
  "said by name": "the words beside the quotation name the speaker", "said by pronoun": "the words beside the quotation say “he said” or the like", "said by noun": "the words beside the quotation describe the speaker",
  turn: "it is this speaker’s turn in the conversation", "same paragraph": "the speaker of this paragraph is known", "speech goes on": "the speech goes on from the paragraph before",
  "story goes on": "somebody tells a long story", letter: "who writes the letter", "said by someone else": "somebody outside the cast", given: "told by a person", corrected: "corrected by a person",
};
const inWords = (rule) => RULES[rule] || (rule.endsWith(", named most") ? `${inWords(rule.slice(0, -12))}, which fits several people: the one who is named most` : rule);

function showDetail(start, end, i = NONE) {
  $("detail").hidden = false;
  const parts = [h("h2", {}, `“${wordsOf(start, end)}”`)];
  const others = mentionsAround(start, end).filter((k) => k !== i);
  if (i === NONE) parts.push(h("p", {}, "Not marked as a mention."));
  else parts.push(...mentionParts(i));
  if (others.length) parts.push(h("h3", {}, "Also here"), h("ul", {}, others.map((k) => h("li", {},
    h("button", { class: "link", onclick: () => select(k, { scroll: false }) }, `“${wordsOf(book.start[k], book.end[k])}”: ${labelOf(book.character[k])}`)))));
  const drops = dropsAround(start, end);
  if (drops.length) parts.push(h("h3", {}, "Considered and left out"), h("ul", {}, drops.map((d) => h("li", {},
    `“${wordsOf(d[0], d[1])}” as ${labelOf(d[2])}: ${DATA.reasons[d[3]]} (${d[4]}%)`))));
  parts.push(h("h3", {}, "Correct"), mentionForm(start, end, i));
  const quote = quoteAt(start);
  if (quote) parts.push(...quoteParts(quote));
  parts.push(h("p", { class: "note" }, `${titleOf(headingAt(start))} · word ${number(start)} of ${number(DATA.tokens)} · `,
    h("a", { href: `#t=${start}`, title: "A link to this place" }, "link")));
  $("about").replaceChildren(...parts);
}

function mentionParts(i) {
  const c = book.character[i], step = stepOf(i), rule = ruleOf(i), kind = KINDS[kindOf(i)];
  const parts = [h("p", {}, h("span", { class: `key ${look(c)}`, "aria-hidden": "true" }), " ",
    h("button", { class: "link", onclick: () => { if (state.chosen !== c) choose(c); } }, labelOf(c)), " ",
    h("button", { "aria-label": "Previous mention of this character", onclick: () => walkFrom(i, -1) }, "‹"), " ",
    h("button", { "aria-label": "Next mention of this character", onclick: () => walkFrom(i, 1) }, "›"))];
  parts.push(h("h3", {}, "Why"));
  if (book.edited[i]) parts.push(h("p", {}, "Corrected by you."));
  else if (step || rule) {
    parts.push(h("p", {}, `${kind.replace(/s$/, "").replace(/^./, (l) => l.toUpperCase())}: ${inWords(rule || (step === "edit" ? "corrected" : step))}.`),
      h("div", { class: "meter", role: "meter", "aria-valuemin": 0, "aria-valuemax": 100, "aria-valuenow": book.score[i], "aria-label": "Certainty" }, h("i", {})),
      h("p", {}, `${book.score[i]}% certain`));
    parts[parts.length - 2].firstChild.style.width = `${book.score[i]}%`;
  } else parts.push(h("p", {}, "This annotation gives no reasons."));
  const others = (DATA.others[i] || []).filter((o) => o[0] !== c);
  if (others.length && !book.edited[i]) parts.push(h("p", {}, "Other candidates: ", others.map((o) => `${labelOf(o[0])} (${o[1]}%)`).join(", ")));
  return parts;
}

function walkFrom(i, step) {
  if (state.chosen !== book.character[i]) choose(book.character[i]);
  walk(step, false);
}

const mentionsAround = (start, end) => mentionsIn(Math.max(0, start - 60), end + 1).filter((k) => book.end[k] >= start);
const dropsAround = (start, end) => DATA.dropped.filter((d) => d[0] <= end && d[1] >= start && d[0] <= limit());

const personField = (value, label) => h("input", { list: "people", value, "aria-label": label, autocomplete: "off", spellcheck: "false" });

const SCOPES = [["one", "only here"], ["words", "these words, rest of the chapter"],
  ["chapter", "this character, rest of the chapter"], ["book", "this character, rest of the book"]];

function mentionForm(start, end, i) {
  const field = personField(i === NONE ? "" : labelOf(book.character[i]), "This is");
  field.id = "thisis";
  field.addEventListener("focus", () => field.select());
  const scope = h("select", { "aria-label": "Where" }, SCOPES.map(([value, label]) => h("option", { value }, label)));
  const form = h("form", { onsubmit: (e) => { e.preventDefault(); if (field.value.trim()) who(field.value.trim(), (name) => correctMention(start, end, i, name, scope.value)); } },
    h("label", {}, "This is", field), i === NONE ? null : h("label", {}, "Where", scope),
    h("div", { class: "buttons" }, h("button", { type: "submit" }, i === NONE ? "Mark" : "Save"),
      i === NONE ? null : h("button", { type: "button", onclick: () => correctNobody(i) }, "Nobody")));
  if (i === NONE) return form;
  const move = (label, title, a, b) => h("button", { type: "button", title, "aria-label": title, onclick: () => correctSpan(i, book.start[i] + a, book.end[i] + b) }, label);
  form.append(h("div", { class: "buttons" }, h("span", { class: "note" }, "Begins"), move("‹", "Begin one word earlier", -1, 0), move("›", "Begin one word later", 1, 0),
    h("span", { class: "note" }, "ends"), move("‹", "End one word earlier", 0, -1), move("›", "End one word later", 0, 1)));
  return form;
}

function quoteParts(q) {
  const speaker = personField(q.speaker === NONE ? "" : labelOf(q.speaker), "Spoken by");
  const addressees = h("input", { value: q.addressees.map(labelOf).join("; "), "aria-label": "To", autocomplete: "off" });
  const why = q.edited ? "Corrected by you." : q.rule ? `${q.score}% certain: ${inWords(q.rule)}.` : "";
  return [h("h3", {}, "Quote"), h("p", {}, `“${wordsOf(q.start, Math.min(q.start + 12, q.end))}${q.end > q.start + 12 ? " …" : ""}”`), h("p", { class: "note" }, why),
    h("form", { onsubmit: (e) => { e.preventDefault(); 
      whoAll([speaker.value.trim(), ...addressees.value.split(";").map((n) => n.trim()).filter(Boolean)], ([name, ...to]) => correctSpeaker(q, name, to)); } },
      h("label", {}, "Spoken by", speaker), h("label", {}, "To (names, by semicolons)", addressees), h("div", { class: "buttons" }, h("button", { type: "submit" }, "Save quote")))];
}

function closeDetail() {
  $("detail").hidden = true;
  document.querySelectorAll("main .current").forEach((e) => e.classList.remove("current"));
  state.current = NONE;
}

function characterDialog(c) {
  const name = h("input", { value: book.names[c], "aria-label": "Name" }), into = personField("", "Merge into");
  openDialog(labelOf(c),
    h("form", { class: "stack", onsubmit: (e) => { e.preventDefault(); $("dialog").close(); renameCharacter(c, name.value.trim()); } },
      h("label", {}, "Name ", name), h("div", {}, h("button", {}, "Rename"))),
    h("form", { class: "stack", onsubmit: (e) => { e.preventDefault(); $("dialog").close(); who(into.value.trim(), (n) => mergeCharacter(c, n), { fresh: false, but: c }); } },
      h("label", {}, "The same person as ", into), h("div", {}, h("button", {}, "Merge"))),
    h("p", { class: "note" }, "To split somebody off: open the first mention that is another person, write the new name, and choose “this character, rest of the book”."));
}

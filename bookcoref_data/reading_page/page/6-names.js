// Whom a typed name means: the rules of bookcoref_data/edits/naming.py. Nobody new is made without a question.

const joinedInto = (c) => { while (book.joined.has(c)) c = book.joined.get(c); return c; };

/** The characters that a name may mean, by the surest way in which it fits anybody. */
function fitting(typed, but = NONE, how = meant) {
  const seen = state.spoiler ? counts() : null;
  const people = book.names.map((name, c) => c).filter((c) => joinedInto(c) !== but && (!seen || seen[c]));
  const found = how(typed, people.map((c) => [labelOf(c), ...(seen ? [] : DATA.aliases[book.names[c]] || [])]));
  return [...new Set(found.map((k) => joinedInto(people[k])))];
}

/** Find out who is meant and go on with the name; "+Anna" is somebody new whatever it fits. `fresh`: new people may be made. */
function who(typed, then, { fresh = true, but = NONE } = {}) {
  const isNew = typed.startsWith("+"), text = typed.replace(/^\+\s*/, "").trim();
  const problem = !text.trim() ? "A name is needed." : /[\p{Cc}\u2028\u2029]/u.test(text) || text.length > 1000 ? "This is no name." : "";
  if (problem) return toast(problem);
  const exact = book.names.indexOf(known(text));
  if (exact >= 0 && exact !== but) return then(book.names[joinedInto(exact)]);
  const found = fitting(text, but);
  if (found.length === 1 && !isNew) return then(book.names[found[0]]);
  if (!found.length && !fresh) return toast(`Nobody is called ${text}.`);
  const choice = (label, name) => h("button", { onclick: () => { $("dialog").close(); then(name); } }, label);
  openDialog(`Who is “${text}”?`, h("div", { class: "choices" }, (isNew ? [] : found.length ? found : fitting(text, but, begun).slice(0, 6)).map((c) => choice(labelOf(c), book.names[c])),
    fresh ? choice(`New person: ${text}`, text) : null));
}

/** The same for several names, one after the other; "" stays "". */
function whoAll(names, then, done = []) {
  if (done.length === names.length) return then(done);
  const next = names[done.length], go = (name) => whoAll(names, then, [...done, name]);
  return next ? who(next, go) : go("");
}

/** Ask before much of what somebody has goes elsewhere: `moved` maps characters to mentions that leave them. */
function askFirst(moved, into, then) {
  const all = new Array(book.names.length).fill(0);
  for (const i of book.order) all[book.character[i]]++;
  const much = [...moved].filter(([c, n]) => n > 1 && n > all[c] / 100);
  if (!much.length) return then();
  openDialog(`Give them to ${into}?`, h("ul", {}, much.map(([c, n]) => h("li", {}, `${number(n)} of ${number(all[c])} mentions of ${labelOf(c)} become ${into}.`))),
    h("p", {}, h("button", { onclick: () => { $("dialog").close(); then(); } }, "Yes, change them")));
}

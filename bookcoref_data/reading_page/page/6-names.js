// Whom a typed name means: the rules of bookcoref_data/edits/naming.py. Nobody new is made without a question.

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

const joinedInto = (c) => { while (book.joined.has(c)) c = book.joined.get(c); return c; };

/** The characters that a name may mean, by the surest way in which it fits anybody. */
function fitting(typed, but = NONE) {
  const plain = folded(typed), words = plain.split(" "), seen = state.spoiler ? counts() : null;
  if (!plain) return [];
  const people = book.names.map((name, c) => c).filter((c) => joinedInto(c) !== but && (!seen || seen[c])).map((c) => {
    const name = folded(labelOf(c)), aliases = seen ? [] : (DATA.aliases[book.names[c]] || []).map(folded);
    return { c, name, aliases, words: [name, ...aliases].flatMap((n) => n.split(" ")) };
  });
  const slips = (p) => words.filter((w) => !p.words.includes(w));
  for (const fits of [(p) => p.name === plain, (p) => p.aliases.includes(plain), (p) => !slips(p).length,
    (p) => slips(p).length === 1 && p.words.some((w) => oneSlip(w, slips(p)[0]))]) {
    const found = [...new Set(people.filter(fits).map((p) => joinedInto(p.c)))];
    if (found.length) return found;
  }
  return [];
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
  openDialog(`Who is “${text}”?`, h("div", { class: "choices" }, (isNew ? [] : found).map((c) => choice(labelOf(c), book.names[c])),
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

let sayTimer = 0;
function say(text) {
  $("say").replaceChildren(h("span", {}, text));
  clearTimeout(sayTimer);
  sayTimer = setTimeout(() => $("say").replaceChildren(), 4000);
}

const percent = (share) => `${(100 * share).toFixed(1)}%`;

/** The names that a typed one may mean: just that, else by the rules for all pages; `aliases` are other names of each. */
function fitting(typed, names, aliases = {}, how = meant) {
  const same = names.filter((n) => n === typed.trim());
  return same.length ? same : how(typed, names.map((n) => [n, ...(aliases[n] || [])])).map((k) => names[k]);
}

function openDialog(title, ...content) {
  $("dialog").replaceChildren(h("h2", { id: "asked" }, title), ...content.flat(), h("p", {}, h("button", { onclick: () => $("dialog").close() }, "Close (Esc)")));
  $("dialog").showModal();
}

/** Give a file to the server, after those given before; true when it was written. */
let saving = Promise.resolve(), notSaved = ""; // why the last one was not
const save = (text) => (saving = saving.then(() => send(text)));
async function send(text) {
  try {
    const answer = await fetch("edits", { method: "POST", body: text, headers: { "X-Token": DATA.server.token, "If-Match": DATA.server.version } });
    if (!answer.ok) throw new Error(await answer.text());
    DATA.server.version = await answer.text();
    return true;
  } catch (error) { notSaved = error.message; say(`Not saved: ${notSaved}`); return false; }
}

/** Keys that do something, unless a person types or a dialog is open. */
function onKeys(keys) {
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || $("dialog").open || /INPUT|SELECT|TEXTAREA/.test(e.target.tagName)) return;
    const does = keys(e.key);
    if (does) { e.preventDefault(); does(); }
  });
}
$("title").textContent = document.title;

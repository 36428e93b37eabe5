// Files for a study are sent as soon as they are chosen, a few at a time: an error later costs none of them.
const form = document.getElementById("set-up");
const at = (id) => document.getElementById(id);
const root = document.documentElement.dataset.root;
const kept = at("kept"), sending = at("sending"), fault = at("file-fault");
const MOST_FILES = 20, MOST_BYTES = 16 * 2 ** 20;
const WANTED = /\.(jsonl|ndjson|json|csv|tsv|parquet|zip|jpe?g|jfif|png|webp|gif|bmp|tiff?|heic|avif)$/i;

function name(file) { // within what was chosen: the chosen folder's own name says nothing
  const path = file.webkitRelativePath;
  return path ? path.split("/").slice(1).join("/") : file.name;
}

function* parts(files) {
  let part = [], size = 0;
  for (const file of files) {
    if (part.length && (part.length === MOST_FILES || size + file.size > MOST_BYTES)) { yield part; part = []; size = 0; }
    part.push(file);
    size += file.size;
  }
  if (part.length) yield part;
}

async function send(files, drop) {
  const body = new FormData();
  body.set("csrf", form.dataset.csrf);
  if (drop) body.set("drop", drop);
  for (const file of files) body.append("files", file, name(file));
  const reply = await fetch(`${root}/staff/studies/new/files/${form.dataset.batch}`, { method: "POST", body }).catch(() => null);
  const told = await reply?.json().catch(() => null);
  if (!reply?.ok) throw new Error(told?.error ?? kept.dataset.wrong);
  return told;
}

function line(text, value) {
  const item = document.createElement("li"), words = document.createElement("span"), button = document.createElement("button");
  words.textContent = text;
  words.dir = "auto";
  button.className = "quiet";
  button.name = "drop";
  button.value = value;
  button.formNoValidate = true;
  button.textContent = kept.dataset.drop;
  button.setAttribute("aria-label", `${kept.dataset.drop}: ${text}`);
  item.append(words, " ", button);
  return item;
}

function list({ tables, pictures }) {
  kept.replaceChildren(...tables.map((table) => line(table, table)));
  if (pictures) kept.append(line(kept.dataset.pictures.replace("{count}", pictures), "*"));
}

async function choose(input) {
  const files = [...input.files].filter((file) => WANTED.test(file.name) && !/(^|\/)[._]/.test(name(file)));
  const buttons = form.querySelectorAll(".send .button");
  fault.hidden = true;
  sending.hidden = false;
  sending.max = files.length || 1;
  sending.value = 0;
  buttons.forEach((button) => { button.disabled = true; });
  try {
    for (const part of parts(files)) { list(await send(part)); sending.value += part.length; }
    input.value = ""; // they are there: the form need not bring them again
  } catch (wrong) {
    fault.textContent = wrong.message;
    fault.hidden = false;
  }
  sending.hidden = true;
  buttons.forEach((button) => { button.disabled = false; });
}

for (const id of ["chosen", "folder"]) at(id).addEventListener("change", (event) => choose(event.target));
kept.addEventListener("click", async (event) => {
  const button = event.target.closest("button[name=drop]");
  if (!button) return;
  event.preventDefault();
  list(await send([], button.value).catch((wrong) => { fault.textContent = wrong.message; fault.hidden = false; return { tables: [], pictures: 0 }; }));
});
at("fault")?.scrollIntoView({ block: "center" });

// The rating game: rate, see how others saw it, go on. The page works without this; with it, it flows.
const game = document.getElementById("game");
const root = document.documentElement.dataset.root;
const at = (id) => document.getElementById(id);
const said = JSON.parse(game.dataset.words);
const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
const buttons = [...document.querySelectorAll(".level")].reverse(); // lowest first; the page has the highest on top
const stage = document.querySelector(".stage");
const low = Number(game.dataset.low);
let item = Number(game.dataset.item);
let shownAt = performance.now();
let waiting = null; // the next item, already loading, while feedback is read
let answer = null;
let busy = false;
let timer = 0;

const token = () => crypto.randomUUID ? crypto.randomUUID() : Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");

async function call(path, body) {
  // A lost reply is asked for again with the same token: the rating counts once.
  for (let attempt = 0; ; attempt++) {
    try {
      const reply = await fetch(`${root}/api/studies/${game.dataset.study}/${path}`, {
        method: body ? "POST" : "GET",
        headers: { "content-type": "application/json", "x-csrf-token": game.dataset.csrf },
        body: body && JSON.stringify(body),
      });
      if (reply.status >= 500 && attempt < 4) throw new TypeError("again");
      const told = await reply.json().catch(() => ({ error: said.wrong }));
      if (!reply.ok) throw Object.assign(new Error(told.error), { status: reply.status });
      return told;
    } catch (fault) {
      if (!(fault instanceof TypeError) || attempt >= 4) throw fault;
      await new Promise((done) => setTimeout(done, 400 * 2 ** attempt));
    }
  }
}

function tell(fault) {
  if (fault.status === 409 || fault.status === 401) return location.reload();
  at("fault").textContent = fault instanceof TypeError ? said.kept : fault.message;
  at("fault").hidden = false;
}

async function rate(value) {
  if (busy || waiting !== null) return;
  busy = true;
  at("fault").hidden = true;
  buttons.forEach((button) => { button.disabled = true; });
  const mine = buttons[value - low];
  mine.classList.add("mine");
  const seconds = Math.min((performance.now() - shownAt) / 1000, 3600);
  try {
    const told = await call("answers", { item, token: token(), answers: { value }, seconds });
    answer = told.answer;
    load(told.next);
    show(told, value);
  } catch (fault) {
    mine.classList.remove("mine");
    buttons.forEach((button) => { button.disabled = false; });
    tell(fault);
  }
  busy = false;
}

function load(next) {
  waiting = { next, pictures: (next?.pictures ?? []).map((url) => { const picture = new Image(); picture.src = url; return picture; }) };
}

function mark(button, text, kind) {
  const span = document.createElement("span");
  span.textContent = text;
  span.className = kind;
  button.querySelector(".marks").append(span);
}

function show(told, value) {
  const heard = told.feedback;
  game.classList.add("told-off");
  mark(buttons[value - low], said.you, "own");
  const earned = at("earned");
  if (heard) {
    const total = heard.counts.reduce((a, b) => a + b, 0);
    heard.counts.forEach((count, level) => { buttons[level].querySelector(".share").style.width = total ? `${100 * count / total}%` : "0"; });
    if (heard.consensus !== null) {
      buttons[heard.consensus - low].classList.add("common");
      mark(buttons[heard.consensus - low], heard.seeds ? said.estimate : said.consensus, "con");
    }
    const miss = heard.consensus === null ? 0 : Math.abs(value - heard.consensus);
    earned.textContent = heard.points > 0 ? `+${heard.points}` : `${heard.points}`;
    earned.className = heard.points < 0 ? "lost" : heard.points === 0 || miss > 1 ? "none" : "";
    at("why").textContent = heard.why;
  } else {
    earned.textContent = "";
    at("why").textContent = said.noted;
  }
  at("dispute").hidden = !told.can_dispute;
  at("lesson-note").textContent = told.notice;
  at("lesson-note").hidden = !told.notice;
  standing(told.standing);
  at("feedback").hidden = false;
  at("next").focus({ preventScroll: true });
  if (matchMedia("(max-width: 56rem)").matches) at("next").scrollIntoView({ block: "end", behavior: "smooth" });
  if (at("auto").checked && !told.event && !told.can_dispute) timer = setTimeout(go, 2200);
}

function standing(now) {
  const playing = now.phase === "play";
  at("phase").textContent = playing ? said.game : `${said[now.phase] ?? ""} ${fill(said.of, { done: Math.min(now.lesson + 1, now.lesson_goal), all: now.lesson_goal })}`;
  at("pass").hidden = !playing;
  at("phase").dataset.phase = now.phase;
  at("lesson").hidden = playing;
  at("lesson").max = now.lesson_goal || 1;
  at("lesson").value = now.lesson;
  at("points").textContent = now.points;
  at("rated").textContent = fill(said.of, { done: now.rated, all: Math.max(game.dataset.extent, now.rated) });
  at("streak").textContent = now.streak;
  at("streak-box").hidden = now.streak < 3;
}

function go() {
  clearTimeout(timer);
  if (waiting === null) return;
  const { next, pictures } = waiting;
  if (next === null) return location.reload();
  waiting = null;
  item = next.item;
  stage.replaceChildren(...pictures.map((picture, number) => {
    picture.alt = fill(said.picture, { number: number + 1 });
    const button = document.createElement("button"), ears = document.createElement("span");
    button.type = "button"; button.className = "zoomable"; button.dataset.full = picture.src;
    ears.className = "for-ears"; ears.textContent = said.enlarge;
    button.append(picture, ears);
    return button;
  }));
  at("notice")?.remove();
  at("caption").textContent = next.text || (next.sentences ?? []).join(" ");
  game.classList.remove("told-off");
  for (const button of buttons) {
    button.disabled = false;
    button.classList.remove("mine", "common");
    button.querySelector(".marks").replaceChildren();
    button.querySelector(".share").style.width = "0";
  }
  at("feedback").hidden = true;
  at("dispute-form").hidden = true;
  at("fault").hidden = true;
  at("caption").focus({ preventScroll: true });
  window.scrollTo({ top: 0 });
  shownAt = performance.now();
}

async function pass(report) {
  if (busy || waiting !== null) return;
  busy = true;
  try {
    const told = await call("skips", { item, report });
    load(told.next);
    standing(told.standing);
    go();
  } catch (fault) { tell(fault); }
  busy = false;
}

async function dispute(event) {
  event.preventDefault();
  const body = new URLSearchParams({ csrf: game.dataset.csrf, answer, reason: at("reason").value });
  const reply = await fetch(`${root}/studies/${game.dataset.study}/disputes`, { method: "POST", body, redirect: "manual" });
  if (reply.type !== "opaqueredirect") {
    at("dispute-fault").textContent = said.why;
    at("dispute-fault").hidden = false;
    return;
  }
  at("dispute-form").hidden = true;
  at("dispute").hidden = true;
  at("reason").value = "";
  at("lesson-note").textContent = said.sent;
  at("lesson-note").hidden = false;
  at("next").focus();
}

at("levels").addEventListener("submit", (event) => { event.preventDefault(); if (event.submitter) rate(Number(event.submitter.value)); });
at("next").addEventListener("click", go);
at("skip").addEventListener("click", () => pass(null));
at("report").addEventListener("click", () => pass("reported by the player"));
at("dispute").addEventListener("click", () => { clearTimeout(timer); at("dispute-form").hidden = false; at("reason").focus(); });
at("dispute-cancel").addEventListener("click", () => { at("dispute-form").hidden = true; at("next").focus(); });
at("dispute-form").addEventListener("submit", dispute);
function meanings(shown) {
  game.classList.toggle("brief", !shown);
  at("meanings").textContent = shown ? said.hide : said.show;
  at("meanings").setAttribute("aria-expanded", shown);
}

// On a small screen the meanings are there while one learns, and fold away for play until asked for.
meanings(at("phase").dataset.phase !== "play");
at("meanings").addEventListener("click", () => meanings(game.classList.contains("brief")));
at("auto").checked = localStorage.getItem("auto") === "yes";
at("auto").addEventListener("change", () => localStorage.setItem("auto", at("auto").checked ? "yes" : "no"));
document.addEventListener("keydown", (event) => {
  if (document.querySelector("dialog[open]") || event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.target.matches("textarea, input:not([type=checkbox])")) return;
  const level = /^[0-9]$/.test(event.key) ? Number(event.key) : NaN;
  if (level >= low && level <= Number(game.dataset.high)) { event.preventDefault(); rate(level); }
  else if (event.key === "Enter" && waiting !== null && !event.target.matches("button:not(#next), a")) { event.preventDefault(); go(); }
});

// Forms: how long an answer took, keys for the levels, words to mark, and a description's rules while it is typed.
const form = document.getElementById("survey");
const at = (id) => document.getElementById(id);
const began = performance.now();
const timed = () => { form.elements.seconds.value = ((performance.now() - began) / 1000).toFixed(1); };
form.addEventListener("submit", timed);

if (form.dataset.kind === "description") describe();
else if (form.dataset.kind === "error marking") mark();
else choose();

function describe() {
  const axes = ["scene", "action", "rationale"];
  let asked = 0, timer = 0, sure = false;
  const check = async (all) => {
    const mine = ++asked;
    const given = Object.fromEntries(axes.map((axis) => [axis, form.elements[axis].value]));
    const reply = await fetch(`${document.documentElement.dataset.root}/api/descriptions/check`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-csrf-token": form.dataset.csrf },
      body: JSON.stringify({ ...given, study: form.dataset.study }),
    }).catch(() => null);
    if (!reply?.ok || mine !== asked) return null; // the server looks again when it is sent
    const { complaints } = await reply.json();
    for (const axis of axes) {
      const told = at(`${axis}-told`);
      const fault = complaints.find((one) => one.axis === axis && one.refused) ?? complaints.find((one) => one.axis === axis);
      const begun = all || given[axis].trim() !== "";
      told.textContent = !begun ? "" : fault ? fault.message : form.dataset.good;
      told.classList.toggle("good", begun && !fault);
      form.elements[axis].setAttribute("aria-invalid", String(Boolean(begun && fault?.refused)));
    }
    return complaints.find((one) => one.refused) ?? false;
  };
  form.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(() => check(false), 300); });
  form.addEventListener("submit", async (event) => {
    if (sure) return;
    event.preventDefault();
    clearTimeout(timer);
    const fault = await check(true);
    if (fault) return form.elements[fault.axis].focus();
    sure = true;
    timed();
    form.submit();
  });
}

function choose() {
  const sets = [...form.querySelectorAll("fieldset")];
  const done = (set) => set.querySelector(":checked") !== null;
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const here = sets.findIndex((set) => set.contains(document.activeElement));
    if (/^[0-9]$/.test(event.key)) {
      const open = here >= 0 ? here : Math.max(sets.findIndex((set) => !done(set)), 0);
      const choice = sets[open]?.querySelector(`input[data-key="${event.key}"]`);
      if (!choice) return;
      choice.checked = true;
      // on to the next open question, so that a page is answered with numbers alone
      const next = [...sets.slice(open + 1), ...sets.slice(0, open)].find((set) => !done(set));
      (next?.querySelector("input") ?? at("send")).focus();
      (next ?? form).scrollIntoView({ block: "nearest" });
      event.preventDefault();
    } else if (event.key === "Enter" && !event.target.matches("button, a, summary, textarea")) {
      event.preventDefault();
      form.requestSubmit();
    }
  });
}

function mark() {
  const words = [...form.querySelectorAll(".word")], none = at("none-wrong"), count = at("marked-count");
  let drawing = null;
  const marked = () => words.filter((word) => word.getAttribute("aria-pressed") === "true").map((word) => word.dataset.place);
  const show = () => {
    const places = marked();
    if (places.length) none.checked = false;
    form.elements.errors.value = places.length ? places.join(" ") : none.checked ? "none" : "";
    count.textContent = places.length ? count.dataset.some.replace("{count}", places.length) : none.checked ? "" : count.dataset.none;
  };
  const set = (word, on) => { word.setAttribute("aria-pressed", String(on)); show(); };
  for (const word of words) {
    word.addEventListener("pointerdown", (event) => {
      if (event.pointerType === "touch" || event.button) return; // a finger scrolls; it taps to mark
      drawing = word.getAttribute("aria-pressed") !== "true";
      set(word, drawing);
      event.preventDefault();
      word.focus();
    });
    word.addEventListener("pointerenter", () => { if (drawing !== null) set(word, drawing); });
    word.addEventListener("click", (event) => {
      if (event.detail === 0 || event.pointerType === "touch") set(word, word.getAttribute("aria-pressed") !== "true");
    });
    word.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step) { words[words.indexOf(word) + step * (getComputedStyle(word).direction === "rtl" ? -1 : 1)]?.focus(); event.preventDefault(); }
    });
  }
  document.addEventListener("pointerup", () => { drawing = null; });
  none.addEventListener("change", () => { if (none.checked) words.forEach((word) => word.setAttribute("aria-pressed", "false")); show(); });
  form.addEventListener("submit", (event) => {
    if (form.elements.errors.value === "") { event.preventDefault(); count.classList.add("fault"); show(); none.focus(); }
  });
  show();
}

// Forms: how long an answer took, keys for the levels, and the rules of a description while it is typed.
const form = document.getElementById("survey");
const began = performance.now();
form.addEventListener("submit", () => { form.elements.seconds.value = ((performance.now() - began) / 1000).toFixed(1); });

if (form.dataset.kind === "description") {
  const axes = ["scene", "action", "rationale"];
  let asked = 0;
  const check = async () => {
    const mine = ++asked;
    const given = Object.fromEntries(axes.map((axis) => [axis, form.elements[axis].value]));
    const reply = await fetch("/api/descriptions/check", {
      method: "POST",
      headers: { "content-type": "application/json", "x-csrf-token": form.dataset.csrf },
      body: JSON.stringify(given),
    }).catch(() => null);
    if (!reply?.ok || mine !== asked) return;
    const { complaints } = await reply.json();
    for (const axis of axes) {
      const told = document.getElementById(`${axis}-told`);
      const fault = complaints.find((one) => one.axis === axis);
      const begun = given[axis].trim() !== "";
      told.textContent = !begun ? "" : fault ? fault.message : "Good.";
      told.classList.toggle("good", begun && !fault);
    }
  };
  let timer = 0;
  form.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(check, 300); });
} else {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !/^[0-9]$/.test(event.key)) return;
    const sets = [...form.querySelectorAll("fieldset")];
    const open = sets.find((set) => set.contains(document.activeElement)) ?? sets.find((set) => !set.querySelector(":checked")) ?? sets[0];
    const choice = open?.querySelector(`input[value="${event.key}"]`);
    if (choice) { choice.checked = true; choice.focus(); }
  });
}

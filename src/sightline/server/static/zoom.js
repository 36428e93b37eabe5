// Pictures enlarged: by pointer, wheel, pinch and keyboard; and the instructions, which any page may show.
const at = (id) => document.getElementById(id);
const dialog = at("zoom"), picture = at("zoom-picture"), room = dialog.querySelector(".zoom-room");
let scale = 1, x = 0, y = 0;
const held = new Map(); // pointers that are down
let apart = 0;

function place() {
  const most = [room.clientWidth, room.clientHeight].map((side) => side * (scale - 1) / 2 + 40);
  x = Math.max(-most[0], Math.min(most[0], x));
  y = Math.max(-most[1], Math.min(most[1], y));
  picture.style.transform = `translate(${x}px, ${y}px) scale(${scale})`;
}
function zoom(by) { scale = Math.max(1, Math.min(8, scale * by)); if (scale === 1) { x = 0; y = 0; } place(); }

document.addEventListener("click", (event) => {
  const button = event.target.closest?.(".zoomable");
  if (!button) return;
  picture.src = button.dataset.full;
  picture.alt = button.querySelector("img").alt;
  scale = 1; x = 0; y = 0;
  dialog.showModal();
  place();
});
room.addEventListener("wheel", (event) => { event.preventDefault(); zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2); }, { passive: false });
room.addEventListener("dblclick", () => zoom(scale > 1 ? 0 : 2.5));
room.addEventListener("pointerdown", (event) => { held.set(event.pointerId, event); room.setPointerCapture(event.pointerId); apart = 0; });
room.addEventListener("pointermove", (event) => {
  const before = held.get(event.pointerId);
  if (!before) return;
  held.set(event.pointerId, event);
  if (held.size === 1) { x += event.clientX - before.clientX; y += event.clientY - before.clientY; return place(); }
  const [a, b] = [...held.values()];
  const now = Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
  if (apart) zoom(now / apart);
  apart = now;
});
for (const name of ["pointerup", "pointercancel"]) room.addEventListener(name, (event) => { held.delete(event.pointerId); apart = 0; });
at("zoom-in").addEventListener("click", () => zoom(1.5));
at("zoom-out").addEventListener("click", () => zoom(1 / 1.5));
at("zoom-close").addEventListener("click", () => dialog.close());
dialog.addEventListener("keydown", (event) => {
  const step = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[event.key];
  if (event.key === "+" || event.key === "=") zoom(1.5);
  else if (event.key === "-") zoom(1 / 1.5);
  else if (event.key === "0") zoom(0);
  else if (step) { x += step[0]; y += step[1]; place(); }
  else return;
  event.preventDefault();
});
at("show-instructions").addEventListener("click", () => at("instructions").showModal());

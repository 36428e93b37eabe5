// Puts the page together, and follows its address: #story-12 opens the thirteenth story.

function follow(focus) {
  const found = /^#story-(\d+)$/.exec(location.hash);
  if (found && index.stories[Number(found[1])]) openStory(Number(found[1]), focus).then(() => focus && intoView(find('story')));
  else find('browser').classList.remove('reading');
}

// What was asked for is seen, wherever on the page the link stood; what is seen already does not move.
function intoView(part) {
  const { top } = part.getBoundingClientRect();
  if (top < 0 || top > innerHeight / 2) part.scrollIntoView({ block: 'start', behavior: 'instant' });
}

function keys(event) {
  const typing = event.target.closest('input, select, textarea');
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === '/' && !typing) {
    event.preventDefault();
    find('filters').elements.search.focus();
  } else if (!typing && (event.key === 'j' || event.key === 'k')) {
    const at = matching.findIndex((story) => story.place === current);
    const to = matching[at < 0 ? 0 : at + (event.key === 'j' ? 1 : -1)];
    if (to) location.hash = `#story-${to.place}`;
  }
}

async function start() {
  if (!('DecompressionStream' in window)) throw new Error('this browser is too old to unpack this page (it lacks DecompressionStream)');
  index = await loadIndex();
  find('browser').hidden = false;
  setUpList();
  choose();
  if (matching.length) await openStory(matching[0].place, false);
  find('browser').classList.remove('reading');
  follow(true);
  addEventListener('hashchange', () => follow(true));
  addEventListener('keydown', keys);
}

start().catch((fault) => {
  find('trouble').hidden = false;
  find('trouble').textContent = `What was scored cannot be shown: ${fault.message}.`;
});

// Two systems' texts for the same pictures, side by side: which items differ most, who is higher, and the evidence of both.

const PAGE = 60;
const COLOURS = 5;
let meetings = [];
let matching = [];
let drawn = 0;
let current = null;
let chosenMetric = null;

function choices() {
  const form = find('filters').elements;
  return { a: Number(form.a.value), b: Number(form.b.value), metric: Number(form.metric.value), winner: form.winner.value, order: form.order.value, words: form.search.value.toLowerCase().split(/\s+/).filter(Boolean) };
}

// How far a is ahead of b in an item; null where one has no score.
function ahead(meeting, { a, b, metric }) {
  const [mine, theirs] = [a, b].map((system) => meeting.of.get(system)?.scores[metric] ?? null);
  return mine === null || theirs === null ? null : mine - theirs;
}

const WINNERS = { '': () => true, a: (gap) => gap > 0, b: (gap) => gap !== null && gap < 0, tie: (gap) => gap === 0, one: (gap) => gap === null };
const SORTS = {
  apart: (one, other) => Math.abs(other.gap ?? -1) - Math.abs(one.gap ?? -1),
  near: (one, other) => Math.abs(one.gap ?? Infinity) - Math.abs(other.gap ?? Infinity) || 0,
  a: (one, other) => (other.gap ?? -Infinity) - (one.gap ?? -Infinity) || 0,
  b: (one, other) => (one.gap ?? Infinity) - (other.gap ?? Infinity) || 0,
  id: (one, other) => one.id.localeCompare(other.id, 'en', { numeric: true }),
};

function choose() {
  const wanted = choices();
  matching = meetings.map((meeting) => Object.assign(meeting, { gap: ahead(meeting, wanted) }))
    .filter((meeting) => (meeting.of.has(wanted.a) || meeting.of.has(wanted.b)) && WINNERS[wanted.winner](meeting.gap) && wanted.words.every((word) => meeting.words.includes(word)))
    .sort((one, other) => SORTS[wanted.order](one, other) || one.place - other.place);
  find('list').replaceChildren();
  find('scroller').scrollTop = 0;
  drawn = 0;
  drawMore();
  const all = meetings.length;
  const held = index.total > all ? ` (of ${index.total.toLocaleString('en')}, the ${all.toLocaleString('en')} that differ most are here)` : '';
  find('count').textContent = (matching.length === all ? plural(all, index.noun) : `${matching.length.toLocaleString('en')} of ${plural(all, index.noun)}`) + held;
}

function drawMore() {
  const wanted = choices();
  const most = Math.max(1e-9, ...matching.map((meeting) => Math.abs(meeting.gap ?? 0)));
  const rows = matching.slice(drawn, drawn + PAGE).map((meeting) => row(meeting, wanted, most));
  find('list').append(...rows);
  drawn += rows.length;
  find('more').hidden = drawn >= matching.length;
  markCurrent();
}

function row(meeting, wanted, most) {
  const { gap } = meeting;
  const hues = huesOf(wanted);
  const texts = [wanted.a, wanted.b].map((system, side) => el('span', { class: 'snippet one' }, chip(system, hues[side]), ` ${(meeting.of.get(system)?.text ?? '–').slice(0, 160)}`));
  return el('li', {}, el('a', { href: `#item-${meeting.place}`, 'data-place': meeting.place },
    el('span', { class: 'row-head' }, el('span', { class: 'id', dir: 'auto' }, meeting.id),
      el('span', { class: 'score' }, gap === null ? 'one score' : gap === 0 ? 'tie' : (gap > 0 ? '+' : '\u2212') + Math.abs(gap).toFixed(3))),
    gap === null ? null : el('span', { class: 'tug', 'aria-hidden': 'true' }, el('i', { class: gap < 0 ? `right side-${hues[1]}` : `left side-${hues[0]}`, style: { width: `${50 * Math.abs(gap) / most}%` } })),
    texts));
}

const chip = (system, hue) => el('span', { class: `system side-${hue}`, dir: 'auto' }, index.systems[system]);

// A system's colour is the same all over the page; two that would share one do not while they stand side by side.
function huesOf({ a, b }) {
  const [first, second] = [a % COLOURS, b % COLOURS];
  return [first, first === second ? (second + 1) % COLOURS : second];
}

function markCurrent() {
  for (const link of find('list').querySelectorAll('a')) {
    if (Number(link.dataset.place) === current) link.setAttribute('aria-current', 'true');
    else link.removeAttribute('aria-current');
  }
}

// A side of an item: a system's text with the score and evidence of every metric.
async function sideOf(meeting, system, side, hue) {
  const line = meeting.of.get(system);
  if (!line) return { system, side, hue, line: null };
  const story = await loadStory(line.place);
  return { system, side, hue, line, story, scored: new Map(story.scores.map(([metric, score, evidence]) => [metric, { score, evidence }])), failed: new Map(story.failures) };
}

async function openItem(place, focus) {
  const meeting = meetings[place];
  const wanted = choices();
  const sides = await Promise.all([wanted.a, wanted.b].map((system, side) => sideOf(meeting, system, side, huesOf(wanted)[side])));
  current = place;
  find('story').replaceChildren(...itemView(meeting, sides, chosenMetric ?? wanted.metric));
  find('browser').classList.add('reading');
  markCurrent();
  if (focus) find('story').focus({ preventScroll: true });
}

function itemView(meeting, sides, first) {
  const body = el('div', { class: 'evidence', id: 'evidence', role: 'tabpanel' });
  const score = (side, metric) => side.scored?.get(metric)?.score ?? null;
  const there = index.metrics.map((metric, number) => ({ metric, number })).filter(({ number }) => sides.some((side) => side.scored?.has(number) || side.failed?.has(number)));
  const tabs = there.map(({ metric, number: which }) => el('button', { type: 'button', role: 'tab', class: 'tab', 'data-metric-number': which, 'aria-controls': 'evidence', onclick: () => show(which, true) },
    el('span', { class: 'tab-name' }, metric.name),
    el('span', { class: 'tab-score' }, sides.map((side) => el('span', { class: `side-${side.hue}` }, score(side, which) === null ? '–' : number(score(side, which)))))));
  const show = (which, byHand) => {
    if (byHand) chosenMetric = which;
    for (const tab of tabs) {
      const on = Number(tab.dataset.metricNumber) === which;
      tab.setAttribute('aria-selected', on);
      tab.tabIndex = on ? 0 : -1;
      if (on && byHand) tab.focus();
    }
    body.replaceChildren(...versus(sides, which));
  };
  const bar = el('div', { class: 'tabs', role: 'tablist', 'aria-label': 'Metrics', onkeydown: (event) => {
    const at = tabs.findIndex((tab) => tab.getAttribute('aria-selected') === 'true');
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (to !== undefined && tabs[to]) { event.preventDefault(); show(Number(tabs[to].dataset.metricNumber), true); }
  } }, tabs);
  const begin = there.some(({ number }) => number === first) ? first : there[0]?.number;
  if (begin !== undefined) show(begin, false);
  const step = (by, name, key) => {
    const to = matching[matching.indexOf(meeting) + by];
    return el('a', { class: 'step', href: matching.includes(meeting) && to ? `#item-${to.place}` : null, 'aria-disabled': to ? null : 'true', title: `${name} (${key})` }, name);
  };
  const head = el('header', { class: 'story-head' },
    el('div', {}, el('a', { class: 'back', href: '#items' }, `\u2190 all ${named(2)}`), el('h3', { dir: 'auto' }, meeting.id)),
    el('nav', { class: 'steps', 'aria-label': `Neighbouring ${named(2)}` }, step(-1, '\u2039 previous', 'k'), step(1, 'next \u203a', 'j')));
  return [head, bar, body];
}

// The pictures once, both texts with them, and under each its evidence.
function versus(sides, which) {
  const metric = index.metrics[which];
  const root = el('div', { class: 'board' });
  const told = sides.map((side) => {
    const found = side.scored?.get(which);
    const sentences = found?.evidence.sentences.length ? found.evidence.sentences : side.story?.sentences ?? [];
    const phrases = found ? phrasesOf(found.evidence).map((phrase) => ({ ...phrase, key: `${side.side}-${phrase.key}` })) : [];
    return { ...side, found, sentences, phrases };
  });
  const every = told.flatMap((side) => side.phrases);
  const { awaken, link, mark } = lighting(root, every);
  const images = told.find((side) => side.story?.images.length)?.story.images ?? [];
  for (const side of told) {
    side.lines = sentenceLines(side.sentences, side.phrases, mark);
    side.paired = images.length > 1 && side.lines.length === images.length;
  }
  const figures = images.map((image, number) => {
    const figure = picture(image, number, every.filter((phrase) => phrase.image === number && phrase.box), awaken, null);
    const under = told.filter((side) => side.paired).map((side) => el('div', { class: `said side-${side.hue}` }, chip(side.system, side.hue), side.lines[number]));
    figure.querySelector('figcaption').append(...under);
    return figure;
  });
  const gap = told.every((side) => side.found) ? told[0].found.score - told[1].found.score : null;
  const heads = told.map((side) => {
    const better = gap !== null && gap !== 0 && ((gap > 0) === (side.side === 0)) !== metric.faults;
    const lead = better ? el('span', { class: 'lead' }, `${metric.faults ? 'lower' : 'higher'} by ${number(Math.abs(gap))}`) : null;
    const value = side.found ? number(side.found.score) : side.line ? `no score: ${side.failed.get(which) ?? 'this metric did not look at it'}` : 'has no such item';
    return el('p', { class: 'side-head' }, chip(side.system, side.hue), el('strong', {}, value), lead);
  });
  const texts = told.map((side, at) => el('div', { class: `side side-${side.hue}` }, heads[at], side.paired ? null : el('div', { class: 'text' }, side.lines)));
  root.append(el('div', { class: images.length === 1 ? 'duel beside-picture' : 'duel' },
    el('div', { class: 'pictures', 'data-count': figures.length }, figures), el('div', { class: 'sides' }, texts)));
  const panels = told.map((side) => el('div', { class: `side side-${side.hue}` }, side.found ? evidenceOf(side, metric, link) : null));
  const shared = told.find((side) => side.story?.references.length);
  return [root, every.length ? legend(metric) : null, el('div', { class: 'sides evidence-sides' }, panels), shared ? references(shared.story) : null].filter(Boolean);
}

function evidenceOf({ found: { evidence }, sentences, phrases, system }, metric, link) {
  const some = Object.keys(evidence.parts).length || evidence.notes.length || phrases.length || evidence.pairs.length;
  return some ? [el('span', { class: 'visually-hidden' }, index.systems[system]), Object.keys(evidence.parts).length ? partList(evidence.parts) : null,
    evidence.notes.length ? noteList(evidence.notes) : null,
    phrases.length ? phraseTable(phrases, evidence, metric, link) : null,
    evidence.pairs.length ? pairList(evidence.pairs, sentences) : null] : null;
}

function references(story) {
  return el('details', { open: true }, el('summary', {}, plural(story.references.length, 'reference')), el('ul', { class: 'references' }, story.references.map((text) => el('li', { dir: 'auto' }, text))));
}

function setUp() {
  const form = find('filters').elements;
  const byId = new Map();
  for (const story of index.stories) {
    if (!byId.has(story.id)) byId.set(story.id, { id: story.id, of: new Map(), words: '' });
    const meeting = byId.get(story.id);
    meeting.of.set(story.system, story);
    meeting.words += ` ${story.words}`;
  }
  meetings = [...byId.values()].map((meeting, place) => Object.assign(meeting, { place }));
  for (const name of ['a', 'b']) form[name].append(...index.systems.map((system, number) => el('option', { value: number }, system)));
  form.metric.append(...index.metrics.map((metric, number) => el('option', { value: number }, metric.name)));
  [form.a.value, form.b.value, form.metric.value] = index.first;
  find('filters').addEventListener('input', (event) => {
    if (event.target.name === 'metric') chosenMetric = null;
    if (event.target.name === 'a' && form.a.value === form.b.value) form.b.value = (Number(form.a.value) + 1) % index.systems.length;
    if (event.target.name === 'b' && form.a.value === form.b.value) form.a.value = (Number(form.b.value) + 1) % index.systems.length;
    choose();
    if (event.target.name !== 'search' && matching.length && !matchMedia('(max-width: 52rem)').matches) openItem(matching[0].place, false);
  });
  find('filters').addEventListener('submit', (event) => event.preventDefault());
  find('more').addEventListener('click', drawMore);
  new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && drawn < matching.length && drawMore(), { rootMargin: '400px' }).observe(find('more'));
}

// A sentence of the page about two systems leads to the items that it is about.
function versusOf(winner, loser, metric) {
  const form = find('filters').elements;
  [form.a.value, form.b.value, form.metric.value, form.winner.value, form.order.value, form.search.value] = [winner, loser, metric, 'a', 'apart', ''];
  chosenMetric = null;
  choose();
  find('items').scrollIntoView({ block: 'start', behavior: 'instant' });
  if (matching.length && !matchMedia('(max-width: 52rem)').matches) return openItem(matching[0].place, false);
  find('browser').classList.remove('reading');
}

function follow() {
  const versus = /^#versus-(\d+)-(\d+)-(\d+)$/.exec(location.hash)?.slice(1).map(Number);
  if (versus && index.systems[versus[0]] !== undefined && index.systems[versus[1]] !== undefined && index.metrics[versus[2]]) return versusOf(...versus);
  const found = /^#item-(\d+)$/.exec(location.hash);
  if (!found || !meetings[Number(found[1])]) return find('browser').classList.remove('reading');
  return openItem(Number(found[1]), true).then(() => {
    const { top } = find('story').getBoundingClientRect();
    if (top < 0 || top > innerHeight / 2) find('story').scrollIntoView({ block: 'start', behavior: 'instant' });
  });
}

function keys(event) {
  const typing = event.target.closest('input, select, textarea');
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === '/' && !typing) {
    event.preventDefault();
    find('filters').elements.search.focus();
  } else if (!typing && (event.key === 'j' || event.key === 'k')) {
    const at = matching.findIndex((meeting) => meeting.place === current);
    const to = matching[at < 0 ? 0 : at + (event.key === 'j' ? 1 : -1)];
    if (to) location.hash = `#item-${to.place}`;
  }
}

async function start() {
  if (!('DecompressionStream' in window)) throw new Error('this browser is too old to unpack this page (it lacks DecompressionStream)');
  index = await loadIndex();
  find('browser').hidden = false;
  setUp();
  choose();
  if (matching.length) await openItem(matching[0].place, false);
  find('browser').classList.remove('reading');
  follow();
  addEventListener('hashchange', follow);
  addEventListener('keydown', keys);
}

start().catch((fault) => {
  find('trouble').hidden = false;
  find('trouble').textContent = `What was compared cannot be shown: ${fault.message}.`;
});

// One story: its pictures with regions, its text with phrases, and the evidence of the chosen metric.

let current = null;
let chosenMetric = null;

async function openStory(place, focus) {
  const line = index.stories[place];
  const story = await loadStory(place);
  current = place;
  find('story').replaceChildren(...storyView(line, story));
  find('browser').classList.add('reading');
  markCurrent();
  if (focus) find('story').focus({ preventScroll: true });
}

function storyView(line, story) {
  const scored = new Map(story.scores.map(([metric, score, evidence]) => [metric, { score, evidence }]));
  const failed = new Map(story.failures);
  const withPhrases = [...scored].find(([, found]) => found.evidence.phrases.length);
  const first = scored.has(chosenMetric) ? chosenMetric : withPhrases ? withPhrases[0] : scored.keys().next().value;
  const body = el('div', { class: 'evidence', id: 'evidence', role: 'tabpanel' });
  const tabs = index.metrics.map((metric, number) => ({ metric, number })).filter(({ number }) => scored.has(number) || failed.has(number))
    .map(({ metric, number: which }) => el('button', {
      type: 'button', role: 'tab', class: 'tab', 'data-metric-number': which, 'aria-controls': 'evidence', onclick: () => show(which, true),
    }, el('span', { class: 'tab-name' }, metric.name),
    el('span', { class: 'tab-score' }, scored.has(which) ? number(scored.get(which).score) : 'failed'),
    scored.has(which) ? meter(which, scored.get(which).score) : null));
  const show = (which, byHand) => {
    if (byHand) chosenMetric = which;
    for (const tab of tabs) {
      const on = Number(tab.dataset.metricNumber) === which;
      tab.setAttribute('aria-selected', on);
      tab.tabIndex = on ? 0 : -1;
      if (on && byHand) tab.focus();
    }
    const found = scored.get(which);
    body.replaceChildren(...(found ? evidenceView(story, found.evidence, index.metrics[which])
      : [...storyboard(story, story.sentences, []).parts, el('p', { class: 'notice' }, `No score: ${failed.get(which) ?? 'this metric did not look at it'}.`)]));
  };
  const bar = el('div', { class: 'tabs', role: 'tablist', 'aria-label': 'Metrics', onkeydown: (event) => {
    const at = tabs.findIndex((tab) => tab.getAttribute('aria-selected') === 'true');
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (to !== undefined && tabs[to]) { event.preventDefault(); show(Number(tabs[to].dataset.metricNumber), true); }
  } }, tabs);
  show(first ?? failed.keys().next().value, false);
  return [storyHead(line, story), tabs.length ? bar : null, body, beside(story, failed)].filter(Boolean);
}

function storyHead(line, story) {
  const step = (by, name, key) => {
    const at = matching.findIndex((other) => other.place === line.place);
    const to = at < 0 ? null : matching[at + by];
    return el('a', { class: 'step', href: to ? `#story-${to.place}` : null, 'aria-disabled': to ? null : 'true', title: `${name} (${key})` }, name);
  };
  return el('header', { class: 'story-head' },
    el('div', {}, el('a', { class: 'back', href: '#stories' }, `\u2190 all ${named(2)}`),
      el('h3', { dir: 'auto' }, line.id),
      el('p', { class: 'quiet small' }, line.system >= 0 ? el('span', { class: 'system' }, index.systems[line.system]) : null, story.source ? ` ${story.source}` : null)),
    el('nav', { class: 'steps', 'aria-label': `Neighbouring ${named(2)}` }, step(-1, '\u2039 previous', 'k'), step(1, 'next \u203a', 'j')));
}

function evidenceView(story, evidence, metric) {
  const sentences = evidence.sentences.length ? evidence.sentences : story.sentences;
  const single = !evidence.phrases.length && evidence.words.length > 0;
  const phrases = single ? wordsOf(evidence) : phrasesOf(evidence);
  const board = storyboard(story, sentences, phrases, single ? STRONG : undefined);
  const panels = [];
  if (single || phrases.length) panels.push(single ? wordTable(phrases, board.link) : phraseTable(phrases, evidence, metric, board.link));
  if (phrases.length && phrases[0].byImage.length > 1) panels.push(heatMap(phrases, evidence, phrases[0].byImage.length, board.paired, board.link));
  if (evidence.pairs.length) panels.push(pairList(evidence.pairs, sentences));
  return [...board.parts, phrases.length ? legend(metric, single) : null,
    Object.keys(evidence.parts).length ? partList(evidence.parts) : null,
    evidence.notes.length ? noteList(evidence.notes) : null,
    el('div', { class: panels.length > 1 ? 'panels' : 'panels one' }, panels)].filter(Boolean);
}

// Pictures and text. Where sentences and pictures pair up, each sentence stands under its picture.
function storyboard(story, sentences, phrases, least) {
  const paired = story.images.length > 0 && sentences.length === story.images.length;
  const root = el('div', { class: `board${paired ? ' paired' : ''}` });
  const { awaken, link, mark } = lighting(root, phrases, least);
  const lines = sentenceLines(sentences, phrases, mark);
  const figures = story.images.map((image, number) => picture(image, number, phrases.filter((phrase) => phrase.image === number && phrase.box), awaken, paired ? lines[number] : null));
  root.append(el('div', { class: 'pictures', 'data-count': figures.length }, figures));
  if (!paired) root.append(el('div', { class: 'text' }, lines));
  return { parts: [root], link, paired };
}

function beside(story, failed) {
  const parts = [];
  if (failed.size) parts.push(panel('Failures', el('ul', { class: 'notes' }, [...failed].map(([metric, reason]) => el('li', {}, el('code', {}, index.metrics[metric]?.name ?? 'run'), `: ${reason}`)))));
  const ratings = Object.entries(story.ratings);
  if (ratings.length) {
    parts.push(panel('People', el('dl', { class: 'definitions' }, ratings.map(([name, values]) => el('div', {}, el('dt', {}, name),
      el('dd', {}, `${number(values.reduce((a, b) => a + b, 0) / values.length, 2)} (${values.join(', ')})`))))));
  }
  if (story.references.length) {
    parts.push(el('details', {}, el('summary', {}, plural(story.references.length, 'reference')), el('ul', { class: 'references' }, story.references.map((text) => el('li', { dir: 'auto' }, text)))));
  }
  return parts.length ? el('div', { class: 'beside' }, parts) : null;
}

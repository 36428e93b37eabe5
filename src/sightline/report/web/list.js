// The list of stories: search, filters, order. Rows are made as they are scrolled to.

const PAGE = 60;
let matching = [];
let drawn = 0;

function choices() {
  const form = find('filters').elements;
  const bound = (name) => (form[name].value === '' ? null : Number(form[name].value));
  return {
    words: form.search.value.toLowerCase().split(/\s+/).filter(Boolean),
    metric: Number(form.metric.value), order: form.order.value, low: bound('low'), high: bound('high'),
    system: form.system.value === '' ? null : Number(form.system.value), failed: form.failed.checked,
  };
}

const ORDERS = {
  file: () => (a, b) => a.place - b.place,
  id: () => (a, b) => a.id.localeCompare(b.id, 'en', { numeric: true }) || a.place - b.place,
  system: () => (a, b) => a.system - b.system || a.place - b.place,
  low: (metric) => (a, b) => (a.scores[metric] ?? Infinity) - (b.scores[metric] ?? Infinity) || a.place - b.place,
  high: (metric) => (a, b) => (b.scores[metric] ?? -Infinity) - (a.scores[metric] ?? -Infinity) || a.place - b.place,
};

function choose() {
  const wanted = choices();
  matching = index.stories.filter((story) => {
    const score = story.scores[wanted.metric];
    return (wanted.system === null || story.system === wanted.system)
      && (!wanted.failed || story.failed > 0)
      && (wanted.low === null || (score !== null && score >= wanted.low))
      && (wanted.high === null || (score !== null && score <= wanted.high))
      && wanted.words.every((word) => story.words.includes(word));
  }).sort(ORDERS[wanted.order](wanted.metric));
  find('list').replaceChildren();
  find('scroller').scrollTop = 0;
  drawn = 0;
  drawMore();
  const all = index.stories.length;
  const held = index.items > all ? ` (the first ${all.toLocaleString('en')} of ${index.items.toLocaleString('en')} are shown)` : '';
  find('count').textContent = (matching.length === all ? plural(all, index.noun) : `${matching.length.toLocaleString('en')} of ${plural(all, index.noun)}`) + held;
}

function drawMore() {
  const metric = choices().metric;
  const rows = matching.slice(drawn, drawn + PAGE).map((story) => row(story, metric));
  find('list').append(...rows);
  drawn += rows.length;
  find('more').hidden = drawn >= matching.length;
  markCurrent();
}

function row(story, metric) {
  const score = story.scores[metric];
  const system = story.system >= 0 ? el('span', { class: 'system' }, index.systems[story.system]) : null;
  return el('li', {}, el('a', { href: `#story-${story.place}`, 'data-place': story.place },
    el('span', { class: 'row-head' },
      el('span', { class: 'id', dir: 'auto' }, story.id), system,
      el('span', { class: 'score' }, score === null ? (story.failed ? 'failed' : '–') : number(score))),
    score === null ? null : meter(metric, score),
    el('span', { class: 'snippet', dir: 'auto' }, story.text.slice(0, 220))));
}

// A line from the metric's lowest to its highest score, with the median and this score on it.
function meter(metric, score) {
  const { middle } = index.metrics[metric];
  return el('span', { class: 'meter', 'aria-hidden': 'true' },
    el('i', { class: 'middle', style: { left: `${100 * position(metric, middle)}%` } }),
    el('i', { class: 'here', style: { left: `${100 * position(metric, score)}%` } }));
}

function markCurrent() {
  for (const link of find('list').querySelectorAll('a')) {
    if (Number(link.dataset.place) === current) link.setAttribute('aria-current', 'true');
    else link.removeAttribute('aria-current');
  }
}

function setUpList() {
  const form = find('filters');
  form.elements.metric.append(...index.metrics.map((metric, number) => el('option', { value: number }, metric.name)));
  form.elements.system.append(...index.systems.map((name, number) => el('option', { value: number }, name)));
  find('system-field').hidden = index.systems.length < 2;
  form.elements.order.querySelector('[value=system]').hidden = index.systems.length < 2;
  find('failed-field').hidden = !index.stories.some((story) => story.failed);
  form.addEventListener('input', choose);
  form.addEventListener('reset', () => setTimeout(choose));
  form.addEventListener('submit', (event) => event.preventDefault());
  find('more').addEventListener('click', drawMore);
  new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && drawn < matching.length && drawMore(), { rootMargin: '400px' }).observe(find('more'));
  // A bar of an overview histogram filters by its range.
  for (const bar of document.querySelectorAll('[data-metric] rect[data-low]')) {
    bar.addEventListener('click', () => {
      const name = bar.closest('[data-metric]').dataset.metric;
      form.elements.metric.value = index.metrics.findIndex((metric) => metric.name === name);
      form.elements.low.value = bar.dataset.low;
      form.elements.high.value = bar.dataset.high;
      choose();
      find('stories').scrollIntoView();
    });
  }
}

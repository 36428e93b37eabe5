// Pictures with their boxes, and sentences with their phrases: pointing at one shows the other.

// What points to a phrase lights up every part of it within `root`: its box, its mentions, its row.
function lighting(root, phrases, least = 1e-9) {
  const most = Math.max(...phrases.map((phrase) => Math.abs(phrase.contribution)), least);
  const light = (key, on) => {
    root.classList.toggle('lit', on);
    for (const part of document.querySelectorAll(`#evidence [data-phrase="${key}"]`)) part.classList.toggle('on', on);
  };
  const awaken = (part, key) => {
    for (const [type, on] of [['mouseenter', true], ['mouseleave', false], ['focus', true], ['blur', false]]) part.addEventListener(type, () => light(key, on));
    part.addEventListener('click', () => light(key, true)); // a finger neither points nor always gives focus
    return part;
  };
  const told = (phrase) => `${phrase.text}: contribution ${signed(phrase.contribution)}` + (phrase.image === null ? '' : `, best seen in picture ${phrase.image + 1}`);
  const link = (phrase) => awaken(el('button', { type: 'button', class: 'name', dir: 'auto' }, phrase.text), phrase.key);
  const mark = (phrase, text) => awaken(el('button', {
    type: 'button', class: `phrase ${phrase.contribution < 0 ? 'minus' : 'plus'}`, 'data-phrase': phrase.key, 'aria-label': told(phrase), title: told(phrase),
    style: { '--strength': `${Math.round(16 + 46 * Math.abs(phrase.contribution) / most)}%` },
  }, text), phrase.key);
  return { awaken, link, mark };
}

function sentenceLines(sentences, phrases, mark) {
  const mentions = phrases.flatMap((phrase) => [[phrase.sentence, phrase.start, phrase.end], ...phrase.again]
    .map(([sentence, start, end]) => ({ phrase, sentence, start, end })));
  return sentences.map((sentence, number) => el('p', { class: 'sentence', dir: 'auto' }, marked(sentence, mentions.filter((mention) => mention.sentence === number), mark)));
}

// A sentence with its phrases as buttons. Places count characters, which are not JavaScript's units.
function marked(sentence, mentions, mark) {
  const letters = Array.from(sentence);
  const parts = [];
  let at = 0;
  for (const { phrase, start, end } of [...mentions].sort((a, b) => a.start - b.start)) {
    if (start < at || end > letters.length || end <= start) continue;
    parts.push(letters.slice(at, start).join(''), mark(phrase, letters.slice(start, end).join('')));
    at = end;
  }
  return [...parts, letters.slice(at).join('')];
}

function picture([thumbnail, width, height, name, trouble], number, phrases, awaken, sentence) {
  const data = find(`picture-${thumbnail}`);
  if (!width) phrases = [];
  const boxes = phrases.map((phrase) => {
    const [x0, y0, x1, y1] = phrase.box;
    return awaken(el('rect', { class: phrase.contribution < 0 ? 'minus' : 'plus', 'data-phrase': phrase.key, x: x0, y: y0, width: Math.max(0, x1 - x0), height: Math.max(0, y1 - y0) }), phrase.key);
  });
  const tags = phrases.map((phrase) => el('span', { class: `tag ${phrase.contribution < 0 ? 'minus' : 'plus'}`, 'data-phrase': phrase.key, 'aria-hidden': 'true',
    style: { left: `${Math.min(70, 100 * phrase.box[0] / width)}%`, top: `${Math.min(88, 100 * phrase.box[1] / height)}%` } }, phrase.text));
  return el('figure', { class: 'picture' },
    el('div', { class: 'frame', style: width ? { 'aspect-ratio': `${width} / ${height}`, 'max-width': `${28 * width / height}rem` } : { 'aspect-ratio': '4 / 3' } },
      data ? el('img', { src: `data:image/webp;base64,${data.textContent}`, alt: `Picture ${number + 1}: ${name}`, decoding: 'async' }) : el('span', { class: 'absent' }, trouble || 'no picture'),
      phrases.length ? el('svg', { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', 'aria-hidden': 'true' }, boxes) : null, tags),
    el('figcaption', {}, el('span', { class: 'picture-name' }, `${number + 1} \u00b7 ${name}`), sentence));
}

function legend(metric, single = false) {
  if (single) {
    return el('p', { class: 'legend' },
      el('span', { class: 'phrase plus', style: { '--strength': '40%' } }, 'speaks for it'), ' solid line: the score is higher with the word than without it. ',
      el('span', { class: 'phrase minus', style: { '--strength': '40%' } }, 'speaks against it'), ' dashed line: lower. Stronger colour, larger change.');
  }
  return el('p', { class: 'legend' },
    el('span', { class: 'phrase plus', style: { '--strength': '40%' } }, 'seen'), metric?.faults ? ' solid line: is there to be seen ' : ' solid line: adds to the score ',
    el('span', { class: 'phrase minus', style: { '--strength': '40%' } }, 'not seen'), metric?.faults ? ' dashed line: counts as a fault. ' : ' dashed line: takes from it. Stronger colour, larger share. ',
    matchMedia('(hover: none)').matches ? 'Tap a phrase to see its best region.' : 'Point at a phrase, or tab to it, to see its best region.');
}

// The evidence for one score: the table of phrases, the heat map, pairs, parts and notes.

const WORDS_SHOWN = 14;
const STRONG = 0.15; // a change of a word that has the full colour
const FAINT = 0.005; // and one that is not shown

const MEANINGS = {
  T: 'temporal misalignment: phrases that also match other pictures than their sentence\u2019s own, per phrase',
  P: 'noun phrases per word',
  tanh: 'the score brought into \u22121 to 1',
};

function phrasesOf(evidence) {
  return evidence.phrases.map(([text, sentence, start, end, similarity, penalized, weight, contribution, image, box, byImage, again], key) => (
    { key, text, sentence, start, end, similarity, penalized, weight, contribution, image, box, byImage, again }));
}

// Single words, drawn as phrases are: what the score gains by each of them, or loses.
function wordsOf(evidence) {
  return evidence.words.filter(([, , , , change]) => Math.abs(change) >= FAINT).map(([text, sentence, start, end, contribution], key) => (
    { key, text, sentence, start, end, contribution, image: null, box: null, byImage: [], again: [] }));
}

function panel(title, body, hint) {
  return el('section', { class: 'panel' }, el('h4', {}, title), hint ? el('p', { class: 'hint' }, hint) : null, body);
}

// What each word brings, in the order of the text; of many only those that bring most, either way.
function wordTable(words, link) {
  const most = Math.max(...words.map((word) => Math.abs(word.contribution)), STRONG);
  const least = words.map((word) => Math.abs(word.contribution)).sort((a, b) => b - a)[WORDS_SHOWN - 1] ?? 0;
  const rows = words.filter((word) => Math.abs(word.contribution) >= least).map((word) => el('tr', { 'data-phrase': word.key, class: word.contribution < 0 ? 'minus' : 'plus' },
    el('th', { scope: 'row' }, link(word)),
    el('td', { class: 'number contribution' },
      el('span', { class: 'bar', 'aria-hidden': 'true', style: { width: `${36 * Math.abs(word.contribution) / most}%` } }), signed(word.contribution))));
  const head = el('tr', {}, el('th', { scope: 'col' }, 'word'), el('th', { scope: 'col', class: 'number' }, 'change'));
  return panel('Words', el('div', { class: 'scroll' }, el('table', { class: 'phrases words' }, el('thead', {}, head), el('tbody', {}, rows))),
    'The score minus what it would be with the word masked out, beyond what words of true texts change: below 0 it speaks against the text. Words that are not listed do not stand out.'
    + (rows.length < words.length ? ` The ${rows.length} that change most, of ${words.length}.` : '')
    + (words.length ? '' : ' None does here.'));
}

// Figure 4 of GROOViST: similarity, after penalty, weight, contribution.
function phraseTable(phrases, evidence, metric, link) {
  const most = Math.max(...phrases.map((phrase) => Math.abs(phrase.contribution)), 1e-9);
  const columns = metric.faults
    ? [['phrase', 'phrase', 'text'], ['similar\u00adity', 'similarity'], ['above the threshold', 'contribution']]
    : [['phrase', 'phrase', 'text'], ['similar\u00adity', 'similarity'], ['after penalty', 'penalized'],
    [metric.weights === 'none' ? 'weight' : metric.weights.replace('concreteness', 'concrete\u00adness'), 'weight'], ['contri\u00adbution', 'contribution']];
  const body = el('tbody');
  const fill = (rows) => body.replaceChildren(...rows.map((phrase) => el('tr', { 'data-phrase': phrase.key, class: phrase.contribution < 0 ? 'minus' : 'plus' },
    el('th', { scope: 'row' }, link(phrase)),
    el('td', { class: 'number' }, number(phrase.similarity)),
    metric.faults ? null : el('td', { class: 'number' }, number(phrase.penalized)),
    metric.faults ? null : el('td', { class: 'number' }, number(phrase.weight)),
    el('td', { class: 'number contribution' },
      el('span', { class: 'bar', 'aria-hidden': 'true', style: { width: `${36 * Math.abs(phrase.contribution) / most}%` } }),
      signed(phrase.contribution)))));
  let by = null;
  let down = true;
  const heads = columns.map(([name, key, kind]) => el('th', { scope: 'col', class: kind === 'text' ? null : 'number' },
    el('button', { type: 'button', class: 'sort', onclick: () => {
      down = by === key ? !down : kind !== 'text';
      by = key;
      fill([...phrases].sort((a, b) => (kind === 'text' ? a.text.localeCompare(b.text) : a[key] - b[key]) * (down ? -1 : 1)));
      heads.forEach((head, number) => {
        if (columns[number][1] === key) head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
        else head.removeAttribute('aria-sort');
      });
    } }, name)));
  fill(phrases);
  const theta = evidence.threshold === null ? null : `A phrase whose similarity is below \u03b8 = ${number(evidence.threshold)} ${metric.faults ? 'is in no picture' : 'counts against the text by its distance from it'}.`;
  return panel('Phrases', el('div', { class: 'scroll' }, el('table', { class: 'phrases' }, el('thead', {}, el('tr', {}, heads)), body)), theta);
}

// Each phrase's best match in each picture. What reaches theta outside its sentence's own picture makes T.
function heatMap(phrases, evidence, pictures, paired, link) {
  const values = phrases.flatMap((phrase) => phrase.byImage);
  const low = Math.min(...values);
  const high = Math.max(...values);
  const theta = evidence.threshold;
  const head = el('tr', {}, el('th', { scope: 'col' }, 'phrase'), Array.from({ length: pictures }, (_, n) => (
    el('th', { scope: 'col', class: 'number' }, el('span', { class: 'visually-hidden' }, 'picture '), `${n + 1}`))));
  const rows = phrases.map((phrase) => el('tr', { 'data-phrase': phrase.key }, el('th', { scope: 'row' }, link(phrase)),
    phrase.byImage.map((value, picture) => {
      const own = paired && phrase.sentence === picture;
      const reaches = theta !== null && value >= theta;
      const share = high > low ? (value - low) / (high - low) : 0.5;
      const kind = ['heat', own ? 'own' : '', reaches ? 'reaches' : ''].join(' ');
      const told = [own ? 'own picture' : '', reaches ? 'reaches theta' : ''].filter(Boolean).join(', ');
      return el('td', { class: kind, style: { '--share': `${Math.round(5 + 63 * share)}%` } },
        el('span', { class: 'cell' }, number(value, 2)), told ? el('span', { class: 'visually-hidden' }, ` ${told}`) : null);
    })));
  const hint = (paired ? 'A frame marks the sentence\u2019s own picture. ' : '')
    + (theta === null ? '' : `A dot marks a match that reaches \u03b8${paired ? '; dots outside the frames are temporal misalignment' : ''}.`);
  return panel('Phrase by picture', el('div', { class: 'scroll' }, el('table', { class: 'heatmap' }, el('thead', {}, head), el('tbody', {}, rows))), hint);
}

// Two things and the score between them: a sentence and its picture, or a sentence and the next.
function pairList(pairs, sentences) {
  const most = Math.max(1, ...pairs.map(([, , score]) => score));
  const named = (name) => {
    const found = /^sentence (\d+)$/.exec(name);
    const text = found && sentences[Number(found[1]) - 1];
    return el('span', { class: 'end', dir: 'auto' }, el('span', { class: 'quiet' }, name), text ? ` ${text}` : '');
  };
  const bar = (score, arrow) => el('div', { class: 'pair-score' }, arrow,
    el('span', { class: 'track', 'aria-hidden': 'true' }, el('span', { class: 'fill', style: { width: `${100 * Math.max(0, score) / most}%` } })),
    el('span', { class: 'number' }, number(score)));
  const arrow = (sign) => el('span', { class: 'arrow', 'aria-hidden': 'true' }, sign);
  const chain = pairs.every(([left, right], at) => left.startsWith('sentence') && right.startsWith('sentence') && (!at || pairs[at - 1][1] === left));
  if (chain) {
    const steps = pairs.map(([left, right, score], at) => el('li', {}, at ? null : named(left), bar(score, arrow('\u2193')), named(right)));
    return panel('From sentence to sentence', el('ol', { class: 'pairs chain' }, steps));
  }
  const rows = pairs.map(([left, right, score]) => el('li', {}, el('div', { class: 'ends' }, named(left), arrow('\u2194'), named(right)), bar(score, null)));
  return panel('Pair by pair', el('ol', { class: 'pairs' }, rows));
}

function partList(parts) {
  return el('dl', { class: 'definitions parts' }, Object.entries(parts).map(([name, value]) => (
    el('div', { title: MEANINGS[name] ?? null }, el('dt', {}, name), el('dd', {}, number(value))))));
}

const noteList = (notes) => el('ul', { class: 'notes' }, notes.map((note) => el('li', {}, note)));

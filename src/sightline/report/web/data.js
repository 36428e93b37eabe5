// Unpacking what the page carries, and building elements from it. Text only ever becomes a text node.

const find = (id) => document.getElementById(id);

function el(tag, options = {}, ...children) {
  const svg = ['svg', 'rect', 'line', 'circle', 'path'].includes(tag);
  const made = svg ? document.createElementNS('http://www.w3.org/2000/svg', tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(options)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
    else if (name === 'style') for (const [key, inner] of Object.entries(value)) made.style.setProperty(key, inner);
    else made.setAttribute(name, value === true ? '' : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

function number(value, digits = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) return '–';
  const text = value.toFixed(digits);
  return (Number(text) === 0 ? text.replace('-', '') : text).replace('-', '−');
}
const signed = (value, digits = 3) => (Number(value.toFixed(digits)) > 0 ? '+' : '') + number(value, digits);
const named = (count) => plural(count, index.noun).replace(/^\S+ /, '');
const plural = (count, one) => `${count.toLocaleString('en')} ${count === 1 ? one : one === 'story' ? 'stories' : one + 's'}`;

async function unpack(id) {
  const packed = Uint8Array.from(atob(find(id).textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Response(stream).json();
}

const blocks = new Map();
let index = null;

async function loadStory(place) {
  const number = Math.floor(place / index.block);
  if (!blocks.has(number)) {
    if (blocks.size > 20) blocks.delete(blocks.keys().next().value);
    blocks.set(number, unpack(`block-${number}`));
  }
  return (await blocks.get(number))[place % index.block];
}

async function loadIndex() {
  const found = await unpack('index');
  found.stories = found.stories.map(([id, system, text, scores, failed], place) => (
    { place, id, system, text, scores, failed, words: `${id} ${text}`.toLowerCase() }
  ));
  found.metrics.forEach((metric, number) => {
    const values = found.stories.map((story) => story.scores[number]).filter((value) => value !== null).sort((a, b) => a - b);
    Object.assign(metric, { values, low: values[0], high: values[values.length - 1], middle: values[values.length >> 1] });
  });
  return found;
}

// Where a value lies between the lowest and the highest of its metric, 0 to 1.
function position(metric, value) {
  const { low, high } = index.metrics[metric];
  return high > low ? (value - low) / (high - low) : 0.5;
}

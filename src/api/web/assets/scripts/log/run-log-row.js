// Makes the elements of rows. The output of programs becomes text, never markup.

/**
 * @typedef {{ digits: number, find: string, hasTimes: boolean, isUtc: boolean, target: number, current: number, lineUrl: string, icons: string }} Look
 * @typedef {import('./run-log-lines.js').Line} Line
 */

const streamWords = /** @type {Record<string, string>} */ ({ stderr: 'standard error', system: 'from the service' });
const streamSigns = /** @type {Record<string, string>} */ ({ stderr: '!', system: '›' });

/** @param {number} number @param {Line | null | undefined} line @param {Look} look */
export function makeLine(number, line, look) {
  const row = element('div', 'log-line');
  row.dataset['line'] = String(number);
  if (number === look.target) row.classList.add('log-target');
  if (number === look.current) row.classList.add('log-current');
  const link = element('a', 'log-number', String(number).padStart(look.digits));
  link.setAttribute('href', `#L${number}`);
  link.setAttribute('aria-label', `Line ${number}`);
  row.append(link);
  const [, stream = 'stdout', time = 0, spans = '', cut = 0] = line ?? [];
  if (stream !== 'stdout') row.classList.add(`log-${stream}`);
  row.append(makeSign(stream));
  if (look.hasTimes && line) row.append(element('span', 'log-time', formatTime(time, look.isUtc)));
  if (line) row.append(makeText(spans, look.find));
  else row.append(element('span', 'log-note', line === null ? missing : '…'));
  if (cut > 0) row.append(makeRest(number, cut, look));
  return row;
}

const missing = 'this line is missing: its worker was lost before it had delivered it';

/** @param {string} stream */
function makeSign(stream) {
  // A row that would be empty needs the sign to have the height of a line.
  const sign = element('span', 'log-sign', streamSigns[stream] ?? '\u200b');
  const word = streamWords[stream];
  if (word) {
    sign.title = word;
    sign.append(element('span', 'unseen', ` ${word}: `));
  }
  return sign;
}

/** @param {import('./run-log-lines.js').Spans} spans @param {string} find */
function makeText(spans, find) {
  const text = element('span', 'log-text');
  const pieces = typeof spans === 'string' ? /** @type {const} */ ([[spans, '']]) : spans;
  const marks = find === '' ? [] : findAll(pieces.map(([piece]) => piece).join(''), find);
  let at = 0;
  for (const [piece, classes] of pieces) {
    const parent = classes === '' ? text : element('span', classes);
    appendMarked(
      parent,
      piece,
      marks.map((mark) => mark - at),
      find.length,
    );
    if (parent !== text) text.append(parent);
    at += piece.length;
  }
  return text;
}

/**
 * Appends a piece of a line, and marks the parts of it that belong to found texts.
 * @param {HTMLElement} parent @param {string} piece @param {readonly number[]} marks @param {number} length
 */
function appendMarked(parent, piece, marks, length) {
  let done = 0;
  for (const mark of marks) {
    const from = Math.max(mark, done);
    const to = Math.min(mark + length, piece.length);
    if (to <= from) continue;
    parent.append(piece.slice(done, from), element('mark', '', piece.slice(from, to)));
    done = to;
  }
  if (done < piece.length) parent.append(piece.slice(done));
}

/** @param {string} text @param {string} find */
function findAll(text, find) {
  const [lower, wanted] = [text.toLowerCase(), find.toLowerCase()];
  const places = [];
  // A few letters change their length in lower case: the positions would be wrong.
  if (lower.length !== text.length || wanted.length !== find.length) return [];
  for (let at = lower.indexOf(wanted); at >= 0 && places.length < 500; at = lower.indexOf(wanted, at + wanted.length))
    places.push(at);
  return places;
}

/** @param {number} number @param {number} cut @param {Look} look */
function makeRest(number, cut, look) {
  const rest = element('a', 'log-rest', ` … ${cut.toLocaleString('en')} more characters: show the whole line`);
  rest.setAttribute('href', `${look.lineUrl}/${number}`);
  return rest;
}

/** @param {import('./run-log-rows.js').Section} section @param {boolean} isOpen @param {string} icons */
export function makeHead({ key, label, outcome, tone, icon, took, first, lines }, isOpen, icons) {
  const head = element('button', 'log-head');
  head.setAttribute('type', 'button');
  head.setAttribute('aria-expanded', String(isOpen));
  head.dataset['section'] = key;
  const status = element('span', `status status-${tone}`);
  status.append(makeIcon(icons, icon), outcome);
  const count = `${lines.toLocaleString('en')} ${lines === 1 ? 'line' : 'lines'}`;
  const facts = element(
    'span',
    'log-facts',
    [took, count, `from line ${first.toLocaleString('en')}`].filter(Boolean).join(' · '),
  );
  head.append(makeIcon(icons, isOpen ? 'chevron-down' : 'chevron-right'), element('strong', '', label), status, facts);
  return head;
}

/** @param {string} icons @param {string} name */
function makeIcon(icons, name) {
  const namespace = 'http://www.w3.org/2000/svg';
  const icon = document.createElementNS(namespace, 'svg');
  icon.setAttribute('class', 'icon');
  icon.setAttribute('aria-hidden', 'true');
  const use = document.createElementNS(namespace, 'use');
  use.setAttribute('href', `${icons}#${name}`);
  icon.append(use);
  return icon;
}

/** @param {number} time @param {boolean} isUtc */
function formatTime(time, isUtc) {
  const moment = new Date(isUtc ? time : time - new Date(time).getTimezoneOffset() * 60_000);
  return moment.toISOString().slice(11, 23);
}

/** @param {string} name @param {string} classes @param {string} [text] */
export function element(name, classes, text) {
  const made = document.createElement(name);
  if (classes !== '') made.className = classes;
  if (text !== undefined) made.textContent = text;
  return made;
}

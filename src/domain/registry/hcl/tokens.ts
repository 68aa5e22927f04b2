/**
 * Splits text of OpenTofu's language into tokens without evaluating it. It takes time in proportion to the text, whatever the
 * text is. Text that is not valid is left for the tool to refuse.
 */

export interface HclToken {
  /** A line feed is a sign. The text of strings and heredocs includes their marks. */
  readonly kind: 'word' | 'string' | 'heredoc' | 'sign';
  readonly text: string;
  readonly line: number;
}

const heredoc = /<<-?([\p{ID_Start}_][\p{ID_Continue}-]*)/uy;
const word = /[\p{ID_Start}_][\p{ID_Continue}-]*/uy;

/** Yields the tokens of a text. Comments and white space are left out. */
export function* tokenizeHcl(text: string): Generator<HclToken> {
  let at = text.startsWith('\uFEFF') ? 1 : 0;
  let line = 1;
  const lastLineFeed = text.lastIndexOf('\n');
  while (at < text.length) {
    const { kind, end } = readToken(text, at, lastLineFeed);
    const content = text.slice(at, end);
    if (kind !== null) yield { kind, text: content, line };
    line += countLineFeeds(content);
    at = end;
  }
}

/** The texts of the tokens, without heredocs. */
export function* tokenize(text: string): Generator<string> {
  for (const token of tokenizeHcl(text)) if (token.kind !== 'heredoc') yield token.text;
}

function readToken(text: string, at: number, lastLineFeed: number): { kind: HclToken['kind'] | null; end: number } {
  const comment = skipComment(text, at);
  if (comment !== null) return { kind: null, end: comment };
  if (text[at] === '"') return { kind: 'string', end: skipString(text, at) };
  const named = matchAt(word, text, at);
  if (named) return { kind: 'word', end: at + named[0].length };
  // A heredoc has a line feed behind its marker. Looking for one that does not exist would read the rest of the text each time.
  const opening = at < lastLineFeed && text.startsWith('<<', at) ? matchAt(heredoc, text, at) : null;
  if (opening) return { kind: 'heredoc', end: skipHeredoc(text, at, opening) };
  const sign = text[at] ?? '';
  return { kind: sign === '\n' || sign.trim() !== '' ? 'sign' : null, end: at + 1 };
}

/** Returns the end of the comment that begins here; null if none does. The line feed after a comment is not part of it. */
function skipComment(text: string, at: number): number | null {
  if (text[at] === '#' || text.startsWith('//', at)) return endOf(text, '\n', at);
  if (text.startsWith('/*', at)) return Math.min(endOf(text, '*/', at + 2) + 2, text.length);
  return null;
}

function endOf(text: string, mark: string, from: number): number {
  const end = text.indexOf(mark, from);
  return end === -1 ? text.length : end;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/** Returns the end of a string. `${…}` and `%{…}` inside it may contain strings of their own, to any depth. */
function skipString(text: string, start: number): number {
  const open = ['"'];
  let at = start + 1;
  while (at < text.length && open.length > 0) {
    const sign = text[at];
    if (open.at(-1) === '"') {
      const begins = (sign === '$' || sign === '%') && text[at + 1] === '{' && text[at - 1] !== sign;
      if (begins) open.push('{');
      if (sign === '"') open.pop();
      at += begins || sign === '\\' ? 2 : 1;
      continue;
    }
    const comment = skipComment(text, at);
    if (comment === null && (sign === '"' || sign === '{')) open.push(sign);
    if (comment === null && sign === '}') open.pop();
    at = comment ?? at + 1;
  }
  return Math.min(at, text.length);
}

function skipHeredoc(text: string, start: number, opening: RegExpExecArray): number {
  const from = endOf(text, '\n', start + opening[0].length);
  const closing = new RegExp(`\\n[ \\t]*${opening[1]}[ \\t]*(?=\\r?\\n|$)`, 'g');
  closing.lastIndex = from;
  const end = closing.exec(text);
  return end === null ? text.length : end.index + end[0].length;
}

function countLineFeeds(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++;
  return count;
}

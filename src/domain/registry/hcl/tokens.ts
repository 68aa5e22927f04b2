/** The tokens of OpenTofu's language, without evaluating it. Pure. */

const heredoc = /<<-?([A-Za-z_][\w-]*)[^\n]*\n/y;
const word = /[A-Za-z_][\w-]*/y;

/** Yields words, braces, line feeds and every other character; a string is one token, with its quotes and as it is written. */
export function* tokenize(text: string): Generator<string> {
  let at = 0;
  while (at < text.length) {
    const sign = text[at] ?? '';
    const two = text.slice(at, at + 2);
    const next = matchAt(word, text, at);
    if (sign === '#' || two === '//') at = endOf(text, '\n', at);
    else if (two === '/*') at = endOf(text, '*/', at + 2) + 2;
    else if (two === '<<' && matchAt(heredoc, text, at)) at = skipHeredoc(text, at);
    else if (sign === '"') {
      const end = skipString(text, at);
      yield text.slice(at, end);
      at = end;
    } else if (next) {
      yield next[0];
      at += next[0].length;
    } else {
      if (sign === '\n' || sign.trim() !== '') yield sign;
      at++;
    }
  }
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function endOf(text: string, mark: string, from: number): number {
  const end = text.indexOf(mark, from);
  return end === -1 ? text.length : end;
}

/** Returns the end of a string; `${…}` and `%{…}` inside it may contain strings of their own. */
function skipString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') {
    const opens = (text[at] === '$' || text[at] === '%') && text[at + 1] === '{' && text[at - 1] !== text[at];
    at = opens ? skipTemplate(text, at + 2) : at + (text[at] === '\\' ? 2 : 1);
  }
  return at + 1;
}

function skipTemplate(text: string, start: number): number {
  let depth = 1;
  let at = start;
  while (at < text.length && depth > 0) {
    if (text[at] === '"') at = skipString(text, at);
    else {
      if (text[at] === '{') depth++;
      if (text[at] === '}') depth--;
      at++;
    }
  }
  return at;
}

function skipHeredoc(text: string, start: number): number {
  const opening = matchAt(heredoc, text, start);
  if (opening === null) return start + 2;
  const from = start + opening[0].length - 1;
  const closing = new RegExp(`\\n[ \\t]*${opening[1]}[ \\t]*(?=\\r?\\n|$)`, 'g');
  closing.lastIndex = from;
  const end = closing.exec(text);
  return end === null ? text.length : end.index + end[0].length;
}

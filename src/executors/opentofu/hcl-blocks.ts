/**
 * Finds blocks in OpenTofu's language without evaluating it: it skips strings, comments and heredocs, and counts braces. It
 * allows a clear message before anything runs. After `init`, the backend that the tool really uses is checked.
 */

const heredoc = /<<-?([A-Za-z_][\w-]*)[^\n]*\n/y;
const word = /[A-Za-z_][\w-]*/y;

/** Whether a top-level `terraform` block directly contains a block with one of these names. */
export function hasTerraformBlock(text: string, names: readonly string[]): boolean {
  const open: string[] = [];
  let header: string[] = [];
  for (const token of tokenize(text)) {
    if (token === '{') {
      const [name = ''] = header;
      if (open.length === 1 && open[0] === 'terraform' && names.includes(name)) return true;
      open.push(name);
      header = [];
    } else if (token === '}') {
      open.pop();
      header = [];
    } else if (token === '\n') header = [];
    else header.push(token);
  }
  return false;
}

/** The same check for a JSON file. Invalid JSON is left for the tool to refuse. */
export function hasTerraformMember(text: string, names: readonly string[]): boolean {
  let root: unknown;
  try {
    root = JSON.parse(text);
  } catch {
    return false;
  }
  const blocks = [memberOf(root, 'terraform')].flat(1);
  return blocks.some((block) => names.some((name) => memberOf(block, name) !== undefined));
}

function memberOf(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return value.map((item) => memberOf(item, name)).find((member) => member !== undefined);
  if (typeof value !== 'object' || value === null) return undefined;
  return new Map<string, unknown>(Object.entries(value)).get(name);
}

/** Yields words, braces, line feeds and every other character; a string is one token. */
function* tokenize(text: string): Generator<string> {
  let at = 0;
  while (at < text.length) {
    const sign = text[at] ?? '';
    const two = text.slice(at, at + 2);
    const next = matchAt(word, text, at);
    if (sign === '#' || two === '//') at = endOf(text, '\n', at);
    else if (two === '/*') at = endOf(text, '*/', at + 2) + 2;
    else if (two === '<<' && matchAt(heredoc, text, at)) at = skipHeredoc(text, at);
    else if (sign === '"') {
      yield '"';
      at = skipString(text, at);
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

import type { JsonValue } from '#domain/shared/values/json.ts';
import type { HclToken } from './tokens.ts';

/** Reads the expressions of OpenTofu's language that are plain values. */

const maxDepth = 30;
const number = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;

/**
 * The value of an expression that is a plain value. Undefined for any other expression, and for a number that JavaScript cannot store
 * exactly.
 */
export function readLiteral(tokens: readonly HclToken[], depth = 0): JsonValue | undefined {
  const [first] = tokens;
  if (first === undefined || depth > maxDepth) return undefined;
  if (tokens.length === 1 && first.kind === 'string') return readString(first);
  if (tokens.length === 1 && first.kind === 'heredoc') return readHeredoc(first);
  if (tokens.length === 1 && first.text === 'true') return true;
  if (tokens.length === 1 && first.text === 'false') return false;
  if (tokens.length === 1 && first.text === 'null') return null;
  if (first.text === '[') return readList(tokens, depth);
  if (first.text === '{') return readObject(tokens, depth);
  return tokens.length > 400 ? undefined : readNumber(tokens.map((token) => token.text).join(''));
}

/** Parses a number. Undefined for any other text, and for a number that JavaScript cannot store exactly. */
export function readNumber(text: string): number | undefined {
  if (!number.test(text)) return undefined;
  const value = Number(text);
  const isExact = Number.isInteger(value) ? Number.isSafeInteger(value) : text.replace(/\D/g, '').length <= 15;
  return isExact ? value : undefined;
}

const escapes: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  b: '\b',
  f: '\f',
  '"': '"',
  '\\': '\\',
  '/': '/',
};

/** The value of a string. @returns undefined for one with templates, or with an escape that does not exist */
export function readString({ text, templates }: HclToken): string | undefined {
  if (templates.length > 0) return undefined;
  let isValid = true;
  const value = text
    .slice(1, -1)
    .replace(/\\(?:u([\da-fA-F]{4})|U([\da-fA-F]{8})|([\s\S]))|([$%])\4\{/g, (_, ...groups) => {
      const [short, long, letter, sign]: (string | undefined)[] = groups;
      if (sign !== undefined) return `${sign}{`;
      const code = Number.parseInt(short ?? long ?? '', 16);
      const read = letter === undefined ? toText(code) : escapes[letter];
      isValid &&= read !== undefined;
      return read ?? '';
    });
  return isValid ? value : undefined;
}

function toText(code: number): string | undefined {
  if (code > 0x10_ffff) return undefined;
  return code > 0xffff ? String.fromCodePoint(code) : String.fromCharCode(code);
}

function readHeredoc({ text, templates }: HclToken): string | undefined {
  if (templates.length > 0) return undefined;
  const lines = text.split('\n').slice(1, -1);
  const isFlush = text.startsWith('<<-');
  const margins = lines.filter((line) => line.trim() !== '').map((line) => /^[ \t]*/.exec(line)?.[0].length ?? 0);
  const margin = isFlush ? margins.reduce((min, each) => Math.min(min, each), margins[0] ?? 0) : 0;
  return lines
    .map((line) => `${line.slice(margin)}\n`)
    .join('')
    .replace(/([$%])\1\{/g, '$1{');
}

function readList(tokens: readonly HclToken[], depth: number): JsonValue[] | undefined {
  const items = splitItems(tokens)?.map((item) => readLiteral(item, depth + 1));
  return items?.every((item) => item !== undefined) ? items : undefined;
}

function readObject(tokens: readonly HclToken[], depth: number): Record<string, JsonValue> | undefined {
  const members: [string, JsonValue][] = [];
  for (const [name, sign, ...value] of splitItems(tokens) ?? [[]]) {
    const key = name?.kind === 'string' ? readString(name) : name?.kind === 'word' ? name.text : undefined;
    const read = sign?.text === '=' || sign?.text === ':' ? readLiteral(value, depth + 1) : undefined;
    if (key === undefined || read === undefined) return undefined;
    members.push([key, read]);
  }
  return Object.fromEntries(members);
}

/**
 * The items of a list, an object or a call, from its opening bracket to its closing one. Commas end items, and in braces also line feeds.
 * Null if the brackets do not enclose all tokens.
 */
export function splitItems(tokens: readonly HclToken[]): HclToken[][] | null {
  const items: HclToken[][] = [[]];
  let depth = 0;
  for (const [index, token] of tokens.entries()) {
    const bracket = token.kind === 'sign' ? token.text : '';
    if (/^[\]})]$/.test(bracket)) depth--;
    if (depth === 0 && index > 0 && index < tokens.length - 1) return null;
    const ends = depth === 1 && (bracket === ',' || (bracket === '\n' && tokens[0]?.text === '{'));
    if (ends) items.push([]);
    else if (index > 0 && depth > 0 && !(depth === 1 && bracket === '\n')) items.at(-1)?.push(token);
    if (/^[[{(]$/.test(bracket)) depth++;
  }
  return depth === 0 ? items.filter((item) => item.length > 0) : null;
}

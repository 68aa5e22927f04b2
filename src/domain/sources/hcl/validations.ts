import type { JsonObject } from '#domain/shared/values/json.ts';
import type { NestedBlock } from './body.ts';
import { readLiteral, splitItems } from './literals.ts';
import type { HclToken } from './tokens.ts';

/**
 * Translates a `validation` block of a variable to keywords of JSON Schema; null if a part of its condition cannot be translated. It
 * translates only conjunctions of lists of values, patterns, lengths and bounds.
 */
export function translateValidation(name: string, { body }: NestedBlock, schema: JsonObject): JsonObject | null {
  const condition = (body.arguments.get('condition')?.value ?? []).filter(({ text }) => text !== '\n');
  const keywords: JsonObject = {};
  for (const clause of splitConjunction(condition)) {
    const translated = translateClause(name, clause, schema);
    if (translated === null) return null;
    Object.assign(keywords, translated);
  }
  return keywords;
}

function splitConjunction(tokens: readonly HclToken[]): HclToken[][] {
  const clauses: HclToken[][] = [[]];
  let depth = 0;
  for (const token of tokens) {
    if (token.kind === 'sign' && /^[[({]$/.test(token.text)) depth++;
    if (token.kind === 'sign' && /^[\])}]$/.test(token.text)) depth--;
    if (token.text !== '&' || depth > 0) clauses.at(-1)?.push(token);
    else if (clauses.at(-1)?.length !== 0) clauses.push([]);
  }
  return clauses;
}

function translateClause(name: string, tokens: readonly HclToken[], schema: JsonObject): JsonObject | null {
  const [called] = tokens;
  if (called?.text === 'contains') return toEnum(name, tokens);
  if (called?.text === 'can') return toPattern(name, tokens);
  return toBound(name, textOf(tokens), schema);
}

function textOf(tokens: readonly HclToken[] | undefined): string {
  return (tokens ?? []).map(({ text }) => text).join('');
}

function toEnum(name: string, tokens: readonly HclToken[]): JsonObject | null {
  const [list, value, ...others] = splitItems(tokens.slice(1)) ?? [];
  const values = list && readLiteral(list);
  const isThis = textOf(value) === `var.${name}` && others.length === 0;
  return isThis && Array.isArray(values) && values.length > 0 ? { enum: values } : null;
}

function toPattern(name: string, tokens: readonly HclToken[]): JsonObject | null {
  const [call] = splitItems(tokens.slice(1)) ?? [];
  if (call?.[0]?.text !== 'regex') return null;
  const [pattern, value, ...others] = splitItems(call.slice(1)) ?? [];
  const text = pattern && readLiteral(pattern);
  const isThis = textOf(value) === `var.${name}` && others.length === 0;
  return isThis && typeof text === 'string' ? { pattern: text } : null;
}

const comparison = /^(length\()?var\.([^\s()<>=]{1,200})(\))?(>=|<=|>|<)(-?\d{1,15}(?:\.\d{1,6})?)$/;
const mirrored = /^(-?\d{1,15}(?:\.\d{1,6})?)(>=|<=|>|<)(.{1,300})$/;
const mirrors: Readonly<Record<string, string>> = { '>=': '<=', '<=': '>=', '>': '<', '<': '>' };

function toBound(name: string, written: string, schema: JsonObject): JsonObject | null {
  const turned = mirrored.exec(written);
  const text = turned ? `${turned[3]}${mirrors[turned[2] ?? '']}${turned[1]}` : written;
  const [whole, length, variable, close, operator = '', digits] = comparison.exec(text) ?? [];
  if (whole === undefined || variable !== name || (length === undefined) !== (close === undefined)) return null;
  const bound = Number(digits);
  return length === undefined ? numericBound(operator, bound, schema) : lengthBound(operator, bound, schema);
}

function numericBound(operator: string, bound: number, schema: JsonObject): JsonObject | null {
  if (schema['type'] !== 'number') return null;
  const keywords: Readonly<Record<string, string>> = {
    '>=': 'minimum',
    '<=': 'maximum',
    '>': 'exclusiveMinimum',
    '<': 'exclusiveMaximum',
  };
  return { [keywords[operator] ?? '']: bound };
}

const lengthKeywords: Readonly<Record<string, string>> = { string: 'Length', array: 'Items', object: 'Properties' };

function lengthBound(operator: string, bound: number, schema: JsonObject): JsonObject | null {
  const keyword = lengthKeywords[String(schema['type'])];
  const limit = operator === '>' ? bound + 1 : operator === '<' ? bound - 1 : bound;
  if (keyword === undefined || !Number.isInteger(limit) || limit < 0) return null;
  return { [`${operator.startsWith('>') ? 'min' : 'max'}${keyword}`]: limit };
}

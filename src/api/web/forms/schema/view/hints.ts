import { formats } from '#domain/registry/variables/engine.ts';
import { messagesKeyword } from '#domain/registry/variables/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#domain/shared/values/json.ts';
import { type Html, html } from '../../../html.ts';
import { capitalize } from '../../../text.ts';
import type { Node } from '../plan/node.ts';
import { showValue } from '../plan/options.ts';

const maxShown = 160;
const maxExamples = 3;

/** The rules of a schema in words, so that people can enter a valid value at the first attempt. */
export function describeRules(schema: JsonObject): Html[] {
  const texts = [
    describeRange(schema, ['minLength', 'maxLength'], 'character', 'characters'),
    describeBounds(schema),
    typeof schema['multipleOf'] === 'number' && schema['multipleOf'] !== 1
      ? `a multiple of ${schema['multipleOf']}`
      : '',
    describeRange(schema, ['minItems', 'maxItems'], 'item', 'items'),
    schema['uniqueItems'] === true && schema['type'] === 'array' ? 'no item twice' : '',
    describeRange(schema, ['minProperties', 'maxProperties'], 'member', 'members'),
    describeFormat(schema),
  ].filter((text) => text !== '');
  const rules = texts.map((text, index) => html`${index === 0 ? capitalize(text) : text}`);
  const { pattern } = schema;
  if (typeof pattern !== 'string') return rules;
  const own = ownMessage(schema, 'pattern');
  const raw = html`${rules.length === 0 ? 'Pattern' : 'pattern'} <code class="foreign">${cut(pattern)}</code>`;
  return [...rules, own === null ? raw : html`<span class="foreign">${cut(own)}</span>`];
}

/** The author's own message for a keyword; null if there is none. It says more to people than the keyword. */
function ownMessage(schema: JsonObject, keyword: string): string | null {
  const { [messagesKeyword]: messages } = schema;
  const own = isJsonObject(messages) ? messages[keyword] : undefined;
  return typeof own === 'string' ? own.replace(/\.$/, '') : null;
}

/** The examples of the schema. */
export function describeExamples({ examples }: JsonObject): string {
  if (!Array.isArray(examples) || examples.length === 0) return '';
  return `Such as ${examples.slice(0, maxExamples).map(shorten).join(', ')}`;
}

/** What applies if nothing is entered; empty if nothing applies. */
export function describeDefault({ default: value, isSecret }: Node): string {
  return value === undefined || isSecret ? '' : `Default: ${shorten(value)}`;
}

/** A value on one line, shortened if it is long. */
export function shorten(value: JsonValue): string {
  return cut(showValue(value));
}

function cut(text: string): string {
  return text.length <= maxShown ? text : `${text.slice(0, maxShown)}…`;
}

function describeRange(schema: JsonObject, [min, max]: [string, string], one: string, many: string): string {
  const [from, to] = [schema[min], schema[max]];
  const noun = (count: unknown) => (count === 1 ? one : many);
  const hasLeast = typeof from === 'number' && from > 0;
  if (hasLeast && typeof to === 'number') return from === to ? `${from} ${noun(from)}` : `${from} to ${to} ${noun(to)}`;
  if (hasLeast) return `at least ${from} ${noun(from)}`;
  return typeof to === 'number' ? `at most ${to} ${noun(to)}` : '';
}

function describeBounds({ minimum, maximum, exclusiveMinimum, exclusiveMaximum, type }: JsonObject): string {
  const kind = type === 'integer' ? 'a whole number' : '';
  const bounds = [
    typeof minimum === 'number' ? `at least ${minimum}` : '',
    typeof exclusiveMinimum === 'number' ? `more than ${exclusiveMinimum}` : '',
    typeof maximum === 'number' ? `at most ${maximum}` : '',
    typeof exclusiveMaximum === 'number' ? `less than ${exclusiveMaximum}` : '',
  ].filter((text) => text !== '');
  if (typeof minimum === 'number' && typeof maximum === 'number' && bounds.length === 2)
    return `${kind || 'a number'} from ${minimum} to ${maximum}`;
  return [kind, bounds.join(' and ')].filter((text) => text !== '').join(', ');
}

function describeFormat({ format }: JsonObject): string {
  const example = Object.entries(formats).find(([name]) => name === format)?.[1];
  return example === undefined ? '' : `${String(format).replaceAll('-', ' ')}, such as ${example}`;
}

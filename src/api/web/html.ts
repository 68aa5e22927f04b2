import { html as escapingHtml, raw } from 'hono/html';
import { canTurn, containDirection, isolateWords } from './direction/contain-direction.ts';
import { type Place, placesOf } from './direction/template-places.ts';

/** Markup whose values have been escaped. */
export type Html = ReturnType<typeof escapingHtml>;

const [isolateStart, isolateEnd] = ['<bdi dir="ltr">', '</bdi>'];

/**
 * The only way to write markup. Values are escaped in text and in quoted attributes; nested markup and lists of markup are
 * inserted as they are; null and false are left out. A text that could turn the direction in which the page around it is read is isolated.
 */
export function html(literals: TemplateStringsArray, ...values: readonly unknown[]): Html {
  return escapingHtml(
    literals,
    ...values.map((value, index) => isolate(value, () => placesOf(literals)[index] ?? 'text')),
  );
}

/** A part of a text that somebody typed, for markup that has the whole text: parts that are isolated from each other would change places. */
export function renderTextPart(text: string): Html {
  return escapingHtml`${containDirection(text)}`;
}

/** Most values can turn nothing, so the template is only read for the others. */
function isolate(value: unknown, findPlace: () => Place): unknown {
  if (typeof value === 'string') return canTurn(value) ? isolateText(value, findPlace()) : value;
  if (Array.isArray(value)) return value.map((each) => isolate(each, findPlace));
  if (value instanceof Promise) return value.then((each) => isolate(each, findPlace));
  return value instanceof String ? withoutElements(value, findPlace) : value;
}

function isolateText(text: string, place: Place): unknown {
  if (place === 'exact') return text;
  return place === 'words' ? isolateWords(text) : escapingHtml`<bdi dir="ltr">${containDirection(text)}</bdi>`;
}

/** Nested markup does not know that it stands in an attribute or a title, which can hold no elements. */
function withoutElements(markup: object, findPlace: () => Place): unknown {
  return findPlace() === 'text'
    ? markup
    : raw(String(markup).replaceAll(isolateStart, '\u2066').replaceAll(isolateEnd, '\u2069'));
}

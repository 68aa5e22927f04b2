import { html as escapingHtml } from 'hono/html';
import { canTurn, containDirection, isolateWords } from './direction/contain-direction.ts';
import { type Place, placesOf } from './direction/template-places.ts';

/** Markup whose values have been escaped. */
export type Html = ReturnType<typeof escapingHtml>;

/**
 * The only way to write markup. Escapes values in text and in quoted attributes. Inserts nested markup and lists of markup as they are.
 * Leaves out null and false. Isolates a text that could change the reading direction of the page around it.
 */
export function html(literals: TemplateStringsArray, ...values: readonly unknown[]): Html {
  return write({ literals, values }, 'text');
}

/**
 * A part of a text that a person typed. The markup around all of its parts must isolate them together: parts that are isolated one by one
 * could change places.
 */
export function renderTextPart(text: string): Html {
  return escapingHtml`${containDirection(text)}`;
}

interface Source {
  readonly literals: TemplateStringsArray;
  readonly values: readonly unknown[];
}

/** The source of each markup that isolates a text. Nested markup does not know yet whether it will be placed in an attribute or a title. */
const sources = new WeakMap<object, Source>();

/** @param around the place of this markup. A value is there too, unless the markup itself puts it into an attribute or a title. */
function write(source: Source, around: Place): Html {
  const { literals, values } = source;
  const findPlace = (index: number) => {
    const place = placesOf(literals)[index] ?? 'text';
    return place === 'text' ? around : place;
  };
  const isolated = values.map((value, index) => isolate(value, () => findPlace(index)));
  const markup = escapingHtml(literals, ...isolated);
  if (isolated.some((each, index) => each !== values[index] || hasSource(each))) sources.set(markup, source);
  return markup;
}

function hasSource(value: unknown): boolean {
  return value instanceof Object && sources.has(value);
}

/** Isolates a value. Most values cannot change the direction, so the place in the template is determined only for the others. */
function isolate(value: unknown, findPlace: () => Place): unknown {
  if (typeof value === 'string') return canTurn(value) ? isolateText(value, findPlace()) : value;
  if (Array.isArray(value)) return value.map((each) => isolate(each, findPlace));
  const source = value instanceof Object ? sources.get(value) : undefined;
  if (source) return isolateAgain(value, source, findPlace());
  return value instanceof Promise ? value.then((each) => isolate(each, findPlace)) : value;
}

function isolateText(text: string, place: Place): unknown {
  if (place === 'exact') return text;
  return place === 'words' ? isolateWords(text) : escapingHtml`<bdi dir="ltr">${containDirection(text)}</bdi>`;
}

/** Markup in an attribute or a title is written again without elements, because none are possible there. */
function isolateAgain(markup: unknown, source: Source, place: Place): unknown {
  return place === 'text' ? markup : write(source, place);
}

import { html as escapingHtml } from 'hono/html';
import { canTurn, containDirection, isolateWords } from './direction/contain-direction.ts';
import { type Place, placesOf } from './direction/template-places.ts';

/** Markup whose values have been escaped. */
export type Html = ReturnType<typeof escapingHtml>;

/**
 * The only way to write markup. Values are escaped in text and in quoted attributes; nested markup and lists of markup are
 * inserted as they are; null and false are left out. A text that could turn the direction in which the page around it is read is isolated.
 */
export function html(literals: TemplateStringsArray, ...values: readonly unknown[]): Html {
  return write({ literals, values }, 'text');
}

/** A part of a text that a person typed, for markup that has the whole text: parts that are isolated from each other would change places. */
export function renderTextPart(text: string): Html {
  return escapingHtml`${containDirection(text)}`;
}

interface Source {
  readonly literals: TemplateStringsArray;
  readonly values: readonly unknown[];
}

/** What markup that isolates a text was written from. Nested markup does not know that it will stand in an attribute or a title. */
const sources = new WeakMap<object, Source>();

/** @param around where the markup stands. A value that the markup itself puts into neither an attribute nor a title stands there, too. */
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

/** Most values can turn nothing, so the template is only read for the others. */
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

/** Attributes and titles can hold no elements, so markup there is written again without them. */
function isolateAgain(markup: unknown, source: Source, place: Place): unknown {
  return place === 'text' ? markup : write(source, place);
}

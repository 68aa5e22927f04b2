/**
 * The place of a value in a template. `text` may have elements. `words` are read by people but cannot have elements, such as a title or an
 * attribute. `exact` must stay as it is, such as the value of a field or an address.
 */
export type Place = 'text' | 'words' | 'exact';

/** The attributes that people read or hear. */
const readAttributes = new Set([
  'alt',
  'aria-description',
  'aria-label',
  'aria-valuetext',
  'label',
  'placeholder',
  'title',
]);

/** Elements that contain only text. The text of a `textarea` is what a form sends. */
const textElements: Readonly<Record<string, Place>> = { title: 'words', option: 'words', textarea: 'exact' };

const known = new WeakMap<TemplateStringsArray, readonly Place[]>();

/** The place of each value of a template. A template has the same literals at every call, so they are parsed once. */
export function placesOf(literals: TemplateStringsArray): readonly Place[] {
  const places = known.get(literals) ?? readPlaces(literals);
  known.set(literals, places);
  return places;
}

function readPlaces(literals: readonly string[]): readonly Place[] {
  let before = '';
  return literals.slice(0, -1).map((literal) => {
    // A value cannot end an attribute or an element, so any character can represent it.
    before += `${before === '' ? '' : '\ufffd'}${literal}`;
    return placeAfter(before);
  });
}

/** A template may also begin inside a tag, for example one that writes only an attribute. */
const openAttribute = /(?:^|\s)([\w:-]+)="[^"]*$/;
const openTag = /<[a-z][^<>]*$/;
const openElement = /<(\/?[a-z][a-z0-9]*)[^<]*$/;

function placeAfter(before: string): Place {
  const tag = openTag.exec(before)?.[0];
  const attribute = /[<>]/.test(before) && !tag ? undefined : openAttribute.exec(tag ?? before)?.[1];
  if (attribute !== undefined) return readAttributes.has(attribute) ? 'words' : 'exact';
  if (tag) return 'exact';
  return textElements[openElement.exec(before)?.[1] ?? ''] ?? 'text';
}

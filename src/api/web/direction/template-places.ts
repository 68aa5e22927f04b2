/**
 * Where a value stands in a template: in text that may have elements, in text that may not, such as a title or an attribute that is read out, or
 * where it must stay exactly as it is, such as the value of a field or an address.
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

/** Elements that can hold text alone. The text of a `textarea` is what a form sends. */
const textElements: Readonly<Record<string, Place>> = { title: 'words', option: 'words', textarea: 'exact' };

const known = new WeakMap<TemplateStringsArray, readonly Place[]>();

/** Where each value of a template stands. Its literals are the same at every call, so they are read once. */
export function placesOf(literals: TemplateStringsArray): readonly Place[] {
  const places = known.get(literals) ?? readPlaces(literals);
  known.set(literals, places);
  return places;
}

function readPlaces(literals: readonly string[]): readonly Place[] {
  let before = '';
  return literals.slice(0, -1).map((literal) => {
    // A value cannot end an attribute or an element, so any sign can stand for it.
    before += `${before === '' ? '' : '\ufffd'}${literal}`;
    return placeAfter(before);
  });
}

/** A template may also begin inside a tag, as one for an attribute alone does. */
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

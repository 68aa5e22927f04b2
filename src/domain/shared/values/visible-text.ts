/**
 * Characters that nobody sees, or that change the order in which others are read: with them, two names that differ look the same. Variation selectors are allowed,
 * which choose the form of an emoji.
 */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|(?!\p{Variation_Selector})\p{Default_Ignorable_Code_Point}/u;

/** What a text with such characters is told. */
export const visibleTextRule =
  'expected no control characters, no invisible ones, and none that turn the direction of text';

/** Whether a reader sees every character of a text, in the order in which they stand. */
export function isVisibleText(text: string): boolean {
  return !unseen.test(text);
}

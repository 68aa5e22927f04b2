import { directionControls } from '#domain/shared/values/direction-controls.ts';

/**
 * Characters that can change the order in which the text around them is read: letters that are written from right to left, the mark that acts like
 * them, and the controls that turn the direction.
 */
const turning = new RegExp(
  `[\\u0590-\\u08ff\\u200f${directionControls}\\ufb1d-\\ufdff\\ufe70-\\ufefc\\u{10800}-\\u{10fff}\\u{1e800}-\\u{1efff}]`,
  'u',
);

const controls = new RegExp(`[${directionControls}]`, 'g');

/** What ends a paragraph, and with it every control and the isolation of the element around it. A page shows none of these as a new line. */
const otherEndsOfParagraphs = /[\u001c-\u001e\u0085\u2029]/g;

/** Whether the text can change the order of what stands beside it. */
export function canTurn(text: string): boolean {
  return turning.test(text);
}

/**
 * The text with a sign in place of each control of direction. Such a control would turn the text around, so that people read something else than what is
 * stored; and one that ends an isolation would also end that of the element around the text.
 */
export function containDirection(text: string): string {
  return text.replaceAll(controls, '\ufffd').replaceAll(otherEndsOfParagraphs, ' ');
}

/** A text that keeps its direction to itself where markup cannot, as in a title. Left to right, as the pages are. */
export function isolateWords(text: string): string {
  return canTurn(text) ? `\u2066${containDirection(text)}\u2069` : text;
}

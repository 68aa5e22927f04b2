import { directionControls } from '#domain/shared/values/text.ts';

/**
 * Characters that can change the reading order of the text around them: letters of right-to-left scripts, the mark that acts like them, and
 * control characters of direction.
 */
const turning = new RegExp(
  `[\\u0590-\\u08ff\\u200f${directionControls}\\ufb1d-\\ufdff\\ufe70-\\ufefc\\u{10800}-\\u{10fff}\\u{1e800}-\\u{1efff}]`,
  'u',
);

const controls = new RegExp(`[${directionControls}]`, 'g');

/**
 * Characters that end a paragraph. That also ends every direction control, and the isolation by the element around the text. A page shows
 * none of them as a line break.
 */
const otherEndsOfParagraphs = /[\u001c-\u001e\u0085\u2029]/g;

/** Whether the text can change the reading order of the text beside it. */
export function canTurn(text: string): boolean {
  return turning.test(text);
}

/**
 * Replaces direction controls by a visible character. Such a control would reorder the text, so that people read something else than what
 * is stored. One that ends an isolation would also end that of the element around the text.
 */
export function containDirection(text: string): string {
  return text.replaceAll(controls, '\ufffd').replaceAll(otherEndsOfParagraphs, ' ');
}

/** Isolates a text where markup is not possible, as in a title. Its direction is left to right, like that of the pages. */
export function isolateWords(text: string): string {
  return canTurn(text) ? `\u2066${containDirection(text)}\u2069` : text;
}

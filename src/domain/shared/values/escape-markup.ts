import { directionControls } from './direction-controls.ts';

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const unwritable = new RegExp(`[\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\ufffe\\uffff${directionControls}]`, 'g');

/**
 * A text for XML or HTML, as content or in quotes. Characters that XML does not allow, and controls of the reading direction, become the
 * replacement character.
 */
export function escapeMarkup(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(unwritable, '\ufffd')
    .replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');
}

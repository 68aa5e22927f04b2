import { type Html, html } from '../html.ts';
import { renderIcon } from './icon.ts';

/** The script that copies a value. Pages that show one name it in `scripts`. */
export const copyScript = 'copy.js';

/**
 * A value that is often needed elsewhere, with a button that copies it.
 * @param name what the value is, such as "the id of zone.sync"
 * @param value markup with the whole value in an element with `data-value`
 */
export function renderCopied(name: string, value: Html): Html {
  return html`<div class="copied" data-copied>${value}${renderButton(name)}</div>`;
}

/**
 * Shows an id, a key or a digest with a button that copies it.
 * @param name says what the button copies, such as "the id of zone.sync"
 * @param look `foreign` for a text that other people chose
 */
export function renderCopiedId(name: string, id: string, look: 'muted' | 'foreign' = 'muted'): Html {
  return html`<div class="copied copied-id" data-copied><code class="${look}" data-value>${id}</code>${renderButton(name)}</div>`;
}

function renderButton(name: string): Html {
  return html`<span class="copy"><span class="muted" role="status"></span><button class="icon-button" type="button" data-do="copy" aria-label="Copy ${name}">${renderIcon('copy')}</button></span>`;
}

import { type Html, html } from '../html.ts';
import { renderIcon } from './icon.ts';

export interface ShownSecret {
  /** The id of the field, unique in the page. */
  readonly id: string;
  readonly label: string;
  readonly value: string;
}

/** The script that copies a text. Pages that show one name it in `scripts`. */
export const secretScript = 'secrets.js';

/**
 * A value that is shown only once, in the answer to the form that made it. A note says that the visitor has not copied it yet, until they
 * have: people read "copy it now" as already done.
 */
export function renderSecret({ id, label, value }: ShownSecret): Html {
  return html`<div class="secret field">
<label for="${id}">${label}</label>
<div class="secret-line"><input class="mono" id="${id}" type="text" value="${value}" readonly data-secret autocomplete="off" spellcheck="false">
${renderCopyButton(id, label)}</div>
<p class="secret-state" role="status" id="${id}-state">Not copied yet. It is shown only this once.</p>
</div>`;
}

/** A text to copy that is no secret. */
export function renderCopyable({ id, label, value }: ShownSecret): Html {
  return html`<div class="field">
<label class="mono foreign" for="${id}">${label}</label>
<div class="secret-line"><input class="mono" id="${id}" type="text" value="${value}" readonly autocomplete="off" spellcheck="false">
${renderCopyButton(id, label)}</div>
<p class="secret-state" role="status" id="${id}-state"></p>
</div>`;
}

function renderCopyButton(id: string, label: string): Html {
  return html`<button class="button" type="button" data-copy="${id}" hidden>${renderIcon('copy')}Copy<span class="unseen"> ${label}</span></button>`;
}

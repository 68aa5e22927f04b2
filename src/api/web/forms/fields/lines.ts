import { type Html, html } from '#api/web/html.ts';

interface LinesField {
  readonly id: string;
  readonly name: string;
  readonly isSecret: boolean;
}

/**
 * A second field for a value of several lines, such as a key, because browsers drop line breaks that are pasted into a field of one line.
 * It exists only without scripts: with them, the first field becomes a text area (`lines.js`). If this field is filled in, its value
 * replaces that of the other.
 */
export function renderLines({ id, name, isSecret }: LinesField): Html {
  return html`<noscript><details><summary>Several lines</summary><label for="${id}-lines">Instead of the field above</label>
<textarea id="${id}-lines" name="${name}" rows="4" class="area ${isSecret ? 'secret' : ''}" autocomplete="off" spellcheck="false" autocapitalize="none" ${isSecret ? html`data-secret` : null}></textarea></details></noscript>`;
}

import { type Html, html } from '#api/web/html.ts';

interface LinesField {
  readonly id: string;
  readonly name: string;
  readonly isSecret: boolean;
}

/**
 * A second field for a value of several lines, such as a key: browsers drop the line breaks of what is pasted into a field of one line. With scripts, that
 * field becomes a text area by itself (`lines.js`), and this one is not there. What stands in it counts instead of the other one.
 */
export function renderLines({ id, name, isSecret }: LinesField): Html {
  return html`<noscript><details><summary>Several lines</summary><label for="${id}-lines">Instead of the field above</label>
<textarea id="${id}-lines" name="${name}" rows="4" class="area ${isSecret ? 'secret' : ''}" autocomplete="off" spellcheck="false" autocapitalize="none" ${isSecret ? html`data-secret` : null}></textarea></details></noscript>`;
}

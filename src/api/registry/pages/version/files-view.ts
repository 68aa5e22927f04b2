import { renderIcon } from '#api/web/components/icon.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { ShownVersion } from '../shown.ts';

export interface ShownFile {
  readonly path: string;
  readonly text: string | null;
}

interface FilesView {
  readonly template: { readonly id: string };
  readonly version: ShownVersion;
  /** The file whose text is shown. */
  readonly file: ShownFile | null;
  /** The environment that the visitor came to deploy to. */
  readonly environmentId: string | undefined;
}

const maxListedFiles = 200;
const maxShownCharacters = 200_000;

/** The files that a run gets, and the text of the one that the address names. */
export function renderFiles({ template, version: { version, files }, file, environmentId }: FilesView): Html | null {
  if (files.length === 0) return null;
  const params = { id: template.id, version };
  const link = (path: string) =>
    html`<li><a class="foreign" href="${pagePath(pages.templateVersion, params, { file: path, environment_id: environmentId })}#file" ${path === file?.path ? html`aria-current="true"` : null}>${path}</a></li>`;
  const more = files.length - maxListedFiles;
  return html`<section class="stack" aria-labelledby="files"><h2 id="files">Files</h2>
<div class="panel stack"><ul class="file-list">${files.slice(0, maxListedFiles).map(link)}</ul>
${more > 0 ? html`<p class="muted">and ${more} more, which the API lists</p>` : null}
${file ? renderFile(file) : null}</div></section>`;
}

function renderFile({ path, text }: ShownFile): Html {
  const heading = html`<h3 id="file">${renderIcon('file-text')} <span class="foreign">${path}</span></h3>`;
  if (text === null) return html`${heading}<p class="muted">It is not text.</p>`;
  const isCut = text.length > maxShownCharacters;
  return html`${heading}<pre class="code-block foreign" tabindex="0" role="group" aria-label="Text of ${path}"><code>${text.slice(0, maxShownCharacters)}</code></pre>
${isCut ? html`<p class="muted">Only the first ${maxShownCharacters.toLocaleString('en')} characters are shown.</p>` : null}`;
}

import { renderActions } from '#api/web/components/actions.ts';
import { renderFacts } from '#api/web/components/facts.ts';
import { renderIcon } from '#api/web/components/icon.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import type { Page } from '#api/web/layout.ts';
import { renderMarkdown } from '#api/web/markdown.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { renderCheckState, renderVersionCheck } from '../check-view.ts';
import { executorWords } from '../executors.ts';
import type { ShownTemplate, ShownVersion } from '../views.ts';
import { renderComparison, type VariableChange } from './compare.ts';
import { renderFit } from './fit-view.ts';
import { readSpec, renderOutputs, renderRules, renderSteps } from './spec-view.ts';
import { renderVariables } from './variables-table.ts';

interface ShownFile {
  readonly path: string;
  readonly text: string | null;
}

interface FilesView {
  readonly template: { readonly id: string };
  readonly version: ShownVersion;
  /** The file whose text is shown. */
  readonly file: ShownFile | null;
  /** The environment from which the visitor came in order to deploy there; undefined if none. */
  readonly environmentId: string | undefined;
}

const maxListedFiles = 200;
const maxShownCharacters = 200_000;

/** The files that a run gets, and the text of the one that the address names. */
function renderFiles({ template, version: { version, files }, file, environmentId }: FilesView): Html | null {
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

export interface VersionPage {
  readonly template: ShownTemplate;
  readonly version: ShownVersion;
  /** The environment from which the visitor came in order to deploy there; undefined if none. */
  readonly environmentId: string | undefined;
  /** The template has more versions than were read to find the next lower one. */
  readonly isCut: boolean;
  /** The next lower version, and the changes since then; null if there is none. */
  readonly previous: {
    readonly version: string;
    readonly changes: readonly VariableChange[];
    readonly hasSameFiles: boolean;
  } | null;
  readonly file: ShownFile | null;
  /** The result of the last action. */
  readonly confirmation: Html | null;
}

export function versionPage(shown: VersionPage): Page {
  const { template, version, previous, isCut, file, confirmation } = shown;
  const spec = readSpec(version.spec);
  const place = { environment_id: shown.environmentId };
  return {
    title: `${template.name} ${version.version}`,
    main: html`<div class="page page-wide">
${renderPageHead({
  title: `${template.name} ${version.version}`,
  crumbs: [
    { label: 'Catalog', path: pagePath(pages.catalog, {}, place) },
    { label: template.name, path: pagePath(pages.template, { id: template.id }, place) },
  ],
  beside: renderBadges(shown),
  actions: renderVersionActions(shown),
})}
${confirmation}
${renderYanked(version)}
<div class="beside">
<div class="beside-main">
${renderVersionCheck(version)}
${version.changelog ? html`<section class="panel stack"><h2>Changelog</h2>${renderMarkdown(version.changelog, 3)}</section>` : null}
<section class="stack"><h2 id="variables">Variables</h2>${renderVariables(version.spec)}</section>
${previous ? html`<section class="panel stack"><h2>Changes since ${previous.version}</h2>${isCut ? html`<p class="muted">The template has more than 2,000 versions: one that was published before them may be closer.</p>` : null}${renderComparison(previous.changes, previous.version)}${previous.hasSameFiles ? html`<p>${renderIcon('triangle-alert')} The files are those of ${previous.version}.</p>` : null}</section>` : null}
${renderOutputs(spec)}
${renderSteps(spec)}
${renderFiles({ template, version, file, environmentId: shown.environmentId })}
<section class="stack"><details class="fold"><summary>The whole spec as JSON</summary><pre class="code-block foreign" tabindex="0" role="group" aria-label="Spec"><code>${JSON.stringify(version.spec, null, 2)}</code></pre></details></section>
</div>
<aside class="beside-side" aria-label="About the version">
<section class="panel">${renderFacts([
      ['Executor', executorWords[version.executor]],
      ['Published', renderTime(version.created_at)],
      ['Published by', html`<span class="foreign">${version.published_by.name || 'a deleted user'}</span>`],
      ['Check', renderCheckState(version)],
      ...renderRules(spec),
      ...renderFit(version.workers),
      ['Commit', version.commit ? html`<code class="foreign">${version.commit}</code>` : null],
      ['Digest', html`<code class="foreign">${version.digest}</code>`],
    ])}</section>
</aside>
</div>
</div>`,
  };
}

function renderBadges({ template, version }: VersionPage): Html {
  return html`${version.version === template.latest_version ? html`<span class="badge">Latest</span>` : null}${
    version.yanked_at ? html`<span class="badge badge-bad">Withdrawn</span>` : null
  }`;
}

function renderYanked({ yanked_at: yankedAt, yank_reason: reason }: ShownVersion): Html | null {
  if (yankedAt === null) return null;
  return html`<div class="notice notice-wait"><div><p><strong>Withdrawn</strong> ${renderTime(yankedAt)}. Ranges and “latest” no longer choose it. Its exact version can still be run.</p>${
    reason ? html`<p class="foreign prewrap">${reason}</p>` : null
  }</div></div>`;
}

function renderVersionActions({ template, version, environmentId }: VersionPage): Html {
  const params = { id: template.id, version: version.version };
  const run = pagePath(pages.newRun, { id: template.id }, { version: version.version, environment_id: environmentId });
  const yank = {
    label: 'Withdraw this version',
    icon: 'ban',
    tone: 'danger',
    path: pagePath(pages.yankVersion, params),
  } as const;
  return renderActions(version.actions, {
    run: { label: 'Run this version', icon: 'play', tone: 'primary', path: run },
    ...(version.yanked_at === null && { yank }),
  });
}

import { renderPager, renderTable } from '#api/web/components/table.ts';
import { renderAge } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { toPlainText } from '#api/web/markdown.ts';
import { type LocalPath, pagePath, pages } from '#api/web/paths.ts';
import { executorWords } from '../executors.ts';
import type { ListedVersion } from '../views.ts';
import type { TemplatePage } from './template-facts.ts';

/** The versions of a template, the last published first. */
export function renderVersions({
  template: { id, latest_version: latest },
  versions,
  nextVersions,
  isFirstPage,
  environmentId,
}: Pick<TemplatePage, 'template' | 'versions' | 'nextVersions' | 'isFirstPage' | 'environmentId'>): Html | null {
  if (versions.length === 0 && isFirstPage) return null;
  const place = { environment_id: environmentId };
  const linkTo = ({ version }: ListedVersion) => pagePath(pages.templateVersion, { id, version }, place);
  const columns = [
    {
      label: 'Version',
      kind: 'main',
      cell: (version: ListedVersion) => renderVersion(version, linkTo(version), latest),
    },
    { label: 'Changes', cell: ({ changelog }: ListedVersion) => renderChangelog(changelog) },
    { label: 'Executor', kind: 'minor', cell: ({ executor }: ListedVersion) => executorWords[executor] },
    {
      label: 'Published by',
      cell: (version: ListedVersion) =>
        html`<span class="foreign">${version.published_by.name || 'a deleted user'}</span>`,
    },
    { label: 'Published', cell: (version: ListedVersion) => renderAge(version.created_at) },
  ] as const;
  return html`<section class="stack" aria-labelledby="versions"><h2 id="versions">Versions</h2>
<div class="list-panel">${renderTable({ caption: 'Versions', columns, rows: versions, rowId: (version) => `version-${version.id}` })}</div>
${renderPager({
  first: isFirstPage ? null : pagePath(pages.template, { id }, place),
  next: nextVersions ? pagePath(pages.template, { id }, { ...place, cursor: nextVersions }) : null,
})}</section>`;
}

function renderVersion(
  { version, yanked_at: yankedAt, yank_reason: reason }: ListedVersion,
  path: LocalPath,
  latest: string | null,
): Html {
  return html`<a href="${path}">${version}</a>${
    version === latest ? html` <span class="badge">Latest</span>` : null
  }${yankedAt ? html` <span class="badge badge-bad">Withdrawn</span>` : null}${
    reason ? html`<span class="below muted foreign">${reason}</span>` : null
  }`;
}

const maxShown = 200;

function renderChangelog(changelog: string): Html | null {
  if (changelog === '') return null;
  // Converts only the beginning, because a changelog may be long.
  const text = toPlainText(changelog.slice(0, 4 * maxShown));
  const isCut = text.length > maxShown || changelog.length > 4 * maxShown;
  const shown = isCut ? `${text.slice(0, maxShown)}…` : text;
  return html`<span class="foreign prewrap">${shown}</span>`;
}

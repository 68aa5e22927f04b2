import { renderChips } from '#api/web/components/chips.ts';
import type { Crumb } from '#api/web/components/page-head.ts';
import { renderStatusBadge } from '#api/web/components/status.ts';
import { type Html, html } from '#api/web/html.ts';
import { type LocalPath, pagePath, pages, type Query, withQuery } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';

export const environmentsCrumb: Crumb = { label: 'Environments', path: pagePath(pages.environments) };

/** The pages above one that is about an environment. `tab` is the part of its page from which the reader came. */
export function environmentCrumbs({ id, name }: { readonly id: string; readonly name: string }, tab?: string): Crumb[] {
  return [environmentsCrumb, { label: name, path: pagePath(pages.environment, { id }, { tab }) }];
}

/** Tabs for the two halves of a list: active and archived. */
export function renderArchiveTabs(path: LocalPath, isArchived: boolean): Html {
  const chips = [
    { value: false, label: 'Active' },
    { value: true, label: 'Archived' },
  ];
  return renderChips('Active or archived', chips, isArchived, (state) => withArchived(path, state));
}

/** Whether the address of a list asks for its archived half. */
export function isArchive(visit: Pick<Visit, 'query'>): boolean {
  return visit.query('archived') === 'true';
}

/** The address of a list, of its active or its archived half. */
export function withArchived(path: LocalPath, isArchived: boolean): LocalPath {
  if (!isArchived) return path;
  return path.includes('?') ? `${path}&archived=true` : withQuery(path, { archived: 'true' });
}

/** The query for one half of a list. */
export function archivedQuery(isArchived: boolean): Query {
  return isArchived ? { archived: 'true' } : {};
}

/** Says that a thing is archived; null if it is active. */
export function renderArchivedBadge(archivedAt: string | null): Html | null {
  return archivedAt === null ? null : renderStatusBadge({ word: 'Archived', icon: 'archive', tone: 'queued' });
}

/** Links to things that must be removed before something can be deleted; null if there are none. */
export function renderBlockers(
  what: string,
  things: readonly { label: string; path: LocalPath }[],
  hasMore = false,
): Html | null {
  if (things.length === 0) return null;
  return html`<div class="notice notice-problem"><div><p>${what}</p><ul class="plain-list blockers">${things.map(
    ({ label, path }) => html`<li><a class="foreign" href="${path}">${label}</a></li>`,
  )}${hasMore ? html`<li>and more</li>` : null}</ul></div></div>`;
}

/** A section of a settings page: its explanation, and its controls beside it. */
export function renderSection(id: string, title: string, explanation: Html | string, content: Html): Html {
  return html`<section class="section" aria-labelledby="${id}">
<div class="section-head"><h2 id="${id}">${title}</h2><p class="muted">${explanation}</p></div>
<div class="panel stack">${content}</div>
</section>`;
}

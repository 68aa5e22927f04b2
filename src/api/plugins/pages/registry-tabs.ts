import { renderFacts } from '#api/web/components/facts.ts';
import { renderStatusBadge } from '#api/web/components/status.ts';
import { renderEmpty, renderPages, renderTable } from '#api/web/components/table.ts';
import { renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { list as listActions } from '../action-operations.ts';
import { getCeiling, listReleases } from '../installation-operations.ts';
import { list as listResources } from '../resource-operations.ts';
import {
  active,
  approved,
  ended,
  notApproved,
  notDeclared,
  type PluginVisit,
  readPlaceNames,
  renderPlace,
  type ShownPlugin,
  stale,
} from './words.ts';

/** What the releases have declared, and whether it may be assigned. */
export async function renderActions(visit: PluginVisit, { id }: ShownPlugin): Promise<Html> {
  const cursor = visit.query('cursor');
  const { actions, next_cursor: next } = await visit.read(listActions, { query: { installation_id: id, cursor } });
  const lookOf = ({ declared: isDeclared, approved: isApproved }: (typeof actions)[number]) => {
    if (!isDeclared) return notDeclared;
    return isApproved ? approved : notApproved;
  };
  return html`<div class="list-panel">${
    actions.length > 0
      ? renderTable({
          caption: 'Actions of the plugin',
          rows: actions,
          columns: [
            { label: 'Action', kind: 'main', cell: ({ name }) => html`<code class="foreign">${name}</code>` },
            { label: 'State', cell: (action) => renderStatusBadge(lookOf(action)) },
            { label: 'Can be assigned to', cell: ({ selectors }) => selectors.join(', ').replaceAll('_', ' ') },
            {
              label: 'Effects',
              cell: ({ effects }) =>
                effects.length > 0 ? html`<span class="mono foreign">${effects.join(', ')}</span>` : null,
            },
            { label: 'Revision', kind: 'number', cell: ({ revision }) => String(revision) },
          ],
        })
      : renderEmpty('No actions', 'The actions of a release appear once it is activated and its manifest is staged.')
  }</div>
${renderPages({ cursor, next }, (query) => pagePath(pages.plugin, { id }, query))}`;
}

/** What an administrator has approved. */
export async function renderCeiling(visit: PluginVisit, { id }: ShownPlugin): Promise<Html> {
  const ceiling = await visit.read(getCeiling, { params: { id } });
  const { actions, executions, release, current: isCurrent, set_at: setAt } = ceiling;
  if (setAt === null) {
    return html`<div class="list-panel">${renderEmpty(
      'No ceiling',
      'Nothing is approved, so nobody may use an action. Whoever has settings.manage sets the ceiling.',
    )}</div>`;
  }
  const notice = isCurrent
    ? null
    : html`<p class="notice notice-problem">The ceiling was set for the release ${release} at revision ${String(ceiling.installation_revision)}. It approves nothing of what is active now: set it anew.</p>`;
  return html`${notice}
<div class="panel">${renderFacts([
    ['State', renderStatusBadge(isCurrent ? approved : stale)],
    ['Release', html`<code class="foreign">${release}</code>`],
    ['Actions', actions.length > 0 ? html`<span class="mono foreign">${actions.join(', ')}</span>` : 'none'],
    ['Executions', executions.length > 0 ? html`${executions.map(renderExecution)}` : 'none'],
    ['Set', renderTime(String(setAt))],
    ['Revision', String(ceiling.revision)],
  ])}</div>`;
}

function renderExecution(execution: { name: string; release: string; installation_revision: number }): Html {
  const { name, release, installation_revision: revision } = execution;
  return html`<div><code class="foreign">${name}</code> of <code class="foreign">${release}</code> at revision ${String(revision)}</div>`;
}

/** The releases that the installation knows. */
export async function renderReleases(visit: PluginVisit, { id, active_release }: ShownPlugin): Promise<Html> {
  const cursor = visit.query('cursor');
  const { manifests, next_cursor: next } = await visit.read(listReleases, { params: { id }, query: { cursor } });
  return html`<div class="list-panel">${
    manifests.length > 0
      ? renderTable({
          caption: 'Releases, newest first',
          rows: manifests,
          columns: [
            { label: 'Release', kind: 'main', cell: ({ release }) => html`<code class="foreign">${release}</code>` },
            {
              label: 'State',
              cell: ({ release }) =>
                release === active_release ? renderStatusBadge(active) : html`<span class="muted">known</span>`,
            },
            {
              label: 'Manifest',
              cell: ({ manifest }) => (manifest === null ? 'only its digest is known' : 'staged'),
            },
            { label: 'Digest', kind: 'minor', cell: ({ digest }) => html`<code>${digest.slice(0, 19)}…</code>` },
            { label: 'Staged', cell: ({ staged_at: at }) => renderTime(String(at)) },
          ],
        })
      : renderEmpty('No releases', 'A release is known once its manifest, or its digest, is staged.')
  }</div>
${renderPages({ cursor, next }, (query) => pagePath(pages.plugin, { id }, { tab: 'releases', ...query }))}`;
}

/** The resources of the plugin that the visitor may read. */
export async function renderResources(visit: PluginVisit, { id }: ShownPlugin): Promise<Html> {
  const cursor = visit.query('cursor');
  const deleted = visit.query('deleted') === 'true' ? 'true' : undefined;
  const query = { installation_id: id, deleted, cursor } as const;
  const { resources, next_cursor: next } = await visit.read(listResources, { query });
  const places = resources.map(toSelector);
  const names = await readPlaceNames(visit, places);
  const link = (others: object) => pagePath(pages.plugin, { id }, { tab: 'resources', deleted, ...others });
  const chips = [undefined, 'true'].map(
    (each) =>
      html`<li><a class="chip" href="${link({ deleted: each })}" ${each === deleted ? html`aria-current="true"` : null}>${each ? 'Deleted' : 'Present'}</a></li>`,
  );
  return html`<nav aria-label="Filter by state"><ul class="chips">${chips}</ul></nav>
<div class="list-panel">${
    resources.length > 0
      ? renderTable({
          caption: 'Resources, newest first',
          rows: resources,
          columns: [
            { label: 'Name', kind: 'main', cell: ({ name }) => html`<span class="foreign">${name}</span>` },
            { label: 'Type', cell: ({ type }) => html`<code class="foreign">${type}</code>` },
            { label: 'Of', cell: (resource) => renderPlace(toSelector(resource), names) },
            {
              label: 'State',
              cell: ({ deleted_at: at }) => renderStatusBadge(at === null ? active : { ...ended, word: 'Deleted' }),
            },
            { label: 'Revision', kind: 'number', cell: ({ revision }) => String(revision) },
            {
              label: 'Generation',
              kind: 'number',
              cell: ({ eligibility_generation: generation }) => String(generation),
            },
            { label: 'Id', kind: 'minor', cell: (resource) => html`<code>${resource.id}</code>` },
          ],
        })
      : renderEmpty(
          'None here',
          deleted ? 'No resource of the plugin is deleted.' : 'The plugin manages nothing that you may read.',
        )
  }</div>
${renderPages({ cursor, next }, link)}`;
}

function toSelector({
  environment_id,
  project_id,
  team_id,
}: {
  environment_id: string | null;
  project_id: string | null;
  team_id: string;
}) {
  if (environment_id !== null) return { type: 'environment', id: environment_id } as const;
  return project_id === null
    ? ({ type: 'team', id: team_id } as const)
    : ({ type: 'project', id: project_id } as const);
}

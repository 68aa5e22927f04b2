import type { FastifyReply } from 'fastify';
import { readOwnerNames, renderOwner } from '#api/tenancy/pages/owner-link.ts';
import { copyScript, renderCopiedId } from '#api/web/components/copied.ts';
import { renderFacts } from '#api/web/components/facts.ts';
import { renderFilteredHistory } from '#api/web/components/links/history-link.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderStatusBadge } from '#api/web/components/status.ts';
import { renderTabs } from '#api/web/components/tabs.ts';
import { renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Names } from '#domain/tenancy/names.ts';
import { get } from '../installation-operations.ts';
import { renderActions } from './actions-tab.ts';
import { renderAssignments } from './assignments/assignments-tab.ts';
import { renderCeiling } from './ceiling-tab.ts';
import { renderPrincipals } from './principals-tab.ts';
import { renderReleases } from './releases-tab.ts';
import { renderResources } from './resources-tab.ts';
import { ended, type PluginVisit, pluginsCrumb, readPlaceNames, renderPerson, type ShownPlugin } from './views.ts';

interface Tab {
  readonly key: string;
  readonly label: string;
  readonly render: (visit: PluginVisit, plugin: ShownPlugin) => Promise<Html>;
}

const tabs: readonly [Tab, ...Tab[]] = [
  { key: 'actions', label: 'Actions', render: renderActions },
  { key: 'assignments', label: 'Who may do what', render: renderAssignments },
  { key: 'ceiling', label: 'Ceiling', render: renderCeiling },
  { key: 'principals', label: 'Background principals', render: renderPrincipals },
  { key: 'resources', label: 'Resources', render: renderResources },
  { key: 'releases', label: 'Releases', render: renderReleases },
];

/** Shows an installed plugin: what it declares, what is approved, and who may do what. */
export async function showPlugin(visit: PluginVisit): Promise<FastifyReply> {
  const plugin = await visit.read(get, { params: { id: visit.params.id } });
  const { id, name, organization_id, team_id, active_release: release } = plugin;
  const owner = { organization_id, team_id, project_id: null };
  const names = await readOwnerNames(visit, [owner]);
  const people = await readPlaceNames(visit, [], [plugin.deleted_by]);
  const tab = tabs.find(({ key }) => key === visit.query('tab')) ?? tabs[0];
  return visit.show({
    title: name,
    scripts: [copyScript],
    main: html`<div class="page page-wide">
${renderPageHead({
  title: name,
  crumbs: [pluginsCrumb],
  beside: plugin.deleted_at === null ? null : renderStatusBadge({ ...ended, word: 'Removed' }),
  below: html`Owned by ${renderOwner(owner, names)}`,
  actions: renderFilteredHistory({ plugin_installation_id: id }),
})}
${renderRemoval(plugin, people)}
<div class="panel">${renderFacts([
      [
        'Active release',
        release ? html`<code class="foreign">${release}</code>` : 'none yet: nothing of it can be used',
      ],
      ['Revision', String(plugin.revision)],
      ['Installed', renderTime(String(plugin.created_at))],
      ['Id', renderCopiedId('the id of the plugin', id)],
    ])}</div>
${renderTabs(
  'Parts of the plugin',
  tabs.map(({ key, label }) => ({
    label,
    path: pagePath(pages.plugin, { id }, key === tabs[0].key ? {} : { tab: key }),
    isCurrent: key === tab.key,
  })),
)}
${await tab.render(visit, plugin)}
</div>`,
  });
}

/** Says that a removed plugin remains only as a record. */
function renderRemoval({ deleted_at: at, deleted_by: by }: ShownPlugin, people: Names): Html | null {
  if (at === null) return null;
  return html`<p class="notice"><span>The plugin was removed ${renderTime(String(at))}${by && html` by ${renderPerson(by, people)}`}. Its ceiling, its assignments and its background principals have ended permanently. This page shows their last state.</span></p>`;
}

import type { z } from 'zod';
import { type Fact, renderFacts } from '#api/web/components/facts.ts';
import { renderStatusBadge } from '#api/web/components/status.ts';
import { renderEmpty } from '#api/web/components/table.ts';
import { renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { readDeclarations } from '#domain/plugins/manifests/store.ts';
import type { Manifest } from '#domain/plugins/model.ts';
import { getCeiling } from '../ceiling-operations.ts';
import type { CeilingView } from '../installation-views.ts';
import { approved, ended, type PluginVisit, readPlaceNames, renderPerson, type ShownPlugin, stale } from './views.ts';

/** The approvals of an administrator, and what the active release declares without approval. */
export async function renderCeiling(visit: PluginVisit, plugin: ShownPlugin): Promise<Html> {
  const ceiling = await visit.read(getCeiling, { params: { id: plugin.id } });
  const declared = await readDeclarations(visit.em, plugin.id, plugin.active_release);
  if (ceiling.set_at === null) {
    return html`<div class="list-panel">${renderEmpty(
      'No ceiling',
      'Nothing is approved, so no action can be used. An administrator sets the ceiling.',
    )}</div>${declared && declared.actions.length > 0 ? html`<div class="panel">${renderFacts(missingOf(declared, { actions: [], executions: [] }))}</div>` : null}`;
  }
  const names = await readPlaceNames(visit, [], [ceiling.set_by]);
  const { actions, executions, release, current: isCurrent, set_at: setAt, set_by: setBy } = ceiling;
  const inForce = { actions: isCurrent ? actions : [], executions: executions.filter(({ in_force: is }) => is) };
  return html`${isCurrent || plugin.deleted_at !== null ? null : renderStaleNotice(plugin, ceiling)}
<div class="panel">${renderFacts([
    ['State', renderStatusBadge(isCurrent ? approved : plugin.deleted_at === null ? stale : ended)],
    ['Approved', html`${renderTime(String(setAt))}${setBy === null ? null : html` by ${renderPerson(setBy, names)}`}`],
    ['Release', html`<code class="foreign">${release}</code>`],
    ['Revision', describeRevisions(plugin, ceiling)],
    [isCurrent ? 'Approved actions' : 'Actions that were approved', renderNames(actions)],
    [
      isCurrent || inForce.executions.length > 0 ? 'Approved executions' : 'Executions that were approved',
      executions.length > 0 ? html`${executions.map(renderExecution)}` : 'none',
    ],
    ...(plugin.deleted_at === null ? describeMissing(declared, inForce) : []),
  ])}</div>`;
}

interface Approvals {
  readonly actions: readonly string[];
  readonly executions: readonly { readonly name: string }[];
}

/** The actions that the active release declares and the ceiling does not approve. */
function missingOf({ actions, executions }: Manifest, ceiling: Approvals): [string, Html][] {
  const approvedExecutions = ceiling.executions.map(({ name }) => name);
  const missing = (names: readonly { readonly name: string }[], given: readonly string[]) =>
    renderNames(names.map(({ name }) => name).filter((name) => !given.includes(name)));
  return [
    ['Declared actions that are not approved', missing(actions, ceiling.actions)],
    ['Declared executions that are not approved', missing(executions, approvedExecutions)],
  ];
}

/** For a removed plugin, the page leaves these facts out, because nothing that it declares can be approved. */
function describeMissing(declared: Manifest | null | undefined, ceiling: Approvals): readonly Fact[] {
  return declared ? missingOf(declared, ceiling) : [missingUnknown];
}

const missingUnknown = [
  'Not approved',
  'not known: only the digest of the active release is known, not what it declares',
] as const;

type ShownCeiling = z.input<typeof CeilingView>;

function renderStaleNotice(plugin: ShownPlugin, { release, installation_revision: revision }: ShownCeiling): Html {
  return html`<p class="notice notice-problem">The ceiling was set for the release ${release} when the plugin had revision ${String(revision)}. Now the release ${plugin.active_release} is active at revision ${String(plugin.revision)}. The ceiling approves nothing of it: set it again.</p>`;
}

/** Some commands take the revision of the ceiling, others that of the installation, so the page labels both. */
function describeRevisions(plugin: ShownPlugin, { revision, installation_revision: setFor }: ShownCeiling): string {
  const plural = revision === 1 ? 'has been set once' : `has been set ${revision} times`;
  const fits = setFor === plugin.revision ? 'which it still has' : `which is now ${plugin.revision}`;
  return `${revision} of the ceiling, which ${plural}. It was set for revision ${setFor} of the plugin, ${fits}.`;
}

function renderNames(names: readonly string[]): Html {
  return names.length > 0 ? html`<span class="mono foreign">${names.join(', ')}</span>` : html`none`;
}

function renderExecution(execution: ShownCeiling['executions'][number]): Html {
  const { name, release, installation_revision: revision, in_force: isInForce } = execution;
  return html`<div><code class="foreign">${name}</code> of <code class="foreign">${release}</code> at revision ${String(revision)}${isInForce ? ' of the plugin' : ' of the plugin, which is no longer active'}</div>`;
}

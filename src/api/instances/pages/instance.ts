import type { FastifyReply } from 'fastify';
import { driftedBadge, type Instance, type InstanceVisit } from '#api/environments/pages/instance-table.ts';
import { listAllRuns } from '#api/runs/lists/list-operations.ts';
import { getRun } from '#api/runs/operations.ts';
import { explainReason } from '#api/runs/pages/run/reasons.ts';
import { renderStatusDetail } from '#api/runs/pages/run/status-detail.ts';
import { runTabPath, type ShownRun } from '#api/runs/pages/run-tab.ts';
import { renderActions } from '#api/web/components/actions.ts';
import { renderConfirmation } from '#api/web/components/confirmation.ts';
import { renderFacts } from '#api/web/components/facts.ts';
import { renderIcon } from '#api/web/components/icon.ts';
import { renderRunLink, renderTeamLink } from '#api/web/components/links/resource-links.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { secretScript } from '#api/web/components/secret.ts';
import { renderStatusBadge } from '#api/web/components/status.ts';
import { renderTabs } from '#api/web/components/tabs.ts';
import { renderAge, renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { describeTool } from '#api/workers/tool-words.ts';
import { type Names, readNames } from '#domain/tenancy/names.ts';
import { get } from '../operations.ts';
import { type DriftCheck, readDriftCheck } from './drift-check.ts';
import { renderOutputs, renderResources, renderStates } from './instance-parts.ts';
import { hasChangedUpstream, renderSharing } from './sharing.ts';
import { otherTool } from './tool-switch.ts';

interface Part {
  readonly key: string;
  readonly label: string;
  readonly count?: (instance: Instance) => number;
  readonly render: (visit: InstanceVisit, instance: Instance) => Promise<Html>;
  /** Scripts that it needs. */
  readonly scripts?: readonly string[];
}

const parts: readonly [Part, ...Part[]] = [
  { key: 'resources', label: 'Resources', count: (instance) => instance.resource_count, render: renderResources },
  { key: 'outputs', label: 'Outputs', render: renderOutputs },
  { key: 'states', label: 'State versions', render: renderStates },
  { key: 'sharing', label: 'Sharing', render: renderSharing, scripts: [secretScript] },
];

/** Shows an instance: its resources, its outputs, and all of its state versions. */
export async function showInstance(visit: InstanceVisit): Promise<FastifyReply> {
  const instance = await visit.read(get, { params: visit.params });
  const { deployed_run_id: deployedBy } = instance;
  const deployed = deployedBy === null ? null : await visit.read(getRun, { params: { id: deployedBy }, query: {} });
  const node = deployed?.assembly_node ?? null;
  const names = await readNames(visit.em, {
    assemblies: [node?.assembly_id ?? null],
    environments: [instance.environment_id],
    templates: [instance.template_id],
    teams: [instance.team_id],
  });
  const part = parts.find(({ key }) => key === visit.query('tab')) ?? parts[0];
  return visit.show({
    title: instance.name,
    scripts: part.scripts ?? [],
    main: html`<div class="page page-wide">
${renderPageHead({
  title: instance.name,
  crumbs: [{ label: 'Instances', path: pagePath(pages.instances) }],
  beside: renderSituation(instance),
  actions: renderInstanceActions(instance, deployed, await readDriftCheck(visit, instance, names)),
  history: ['instances', instance.id],
})}
${renderConfirmation(visit, pages.instance)}
${await renderUnrecorded(visit, instance)}
${await renderLastFailure(visit, instance)}
${(await hasChangedUpstream(visit)) ? renderChangedUpstream(instance) : null}
<div class="panel">${renderInstanceFacts(instance, deployed, names)}</div>
${renderTabs(
  'Parts of the instance',
  parts.map(({ key, label, count }) => ({
    label,
    path: pagePath(pages.instance, visit.params, key === parts[0].key ? {} : { tab: key }),
    isCurrent: key === part.key,
    count: count?.(instance),
  })),
)}
${await part.render(visit, instance)}
</div>`,
  });
}

/** Says that an output with which the instance was deployed has changed. */
function renderChangedUpstream({ id }: Instance): Html {
  const path = pagePath(pages.instance, { id }, { tab: 'sharing' });
  return html`<p class="notice">${renderIcon('triangle-alert')}<span>Inputs changed since the deployment: <a href="${path}">outputs that it was deployed with</a> have changed. A new run reads the new values.</span></p>`;
}

/** Why its latest run failed; null if it did not fail. */
async function renderLastFailure(visit: InstanceVisit, { id }: Instance): Promise<Html | null> {
  const { runs } = await visit.read(listAllRuns, { params: {}, query: { instance_id: id, limit: '1' } });
  const [run] = runs;
  if (!run || (run.status !== 'failed' && run.status !== 'timed_out')) return null;
  const why = run.status_detail
    ? renderStatusDetail(run.status_detail)
    : html`<p>${explainReason(run.status_reason)?.why ?? null}</p>`;
  return html`<div class="notice notice-problem">${renderIcon('octagon-x')}<div class="stack"><p>Its latest run did not succeed: ${renderRunLink(run.id)}.</p>${why}</div></div>`;
}

/** The run that works on it now, and whether it has drifted. */
function renderSituation({ id, drifted, locked_by_run_id: lockedBy }: Instance): Html {
  const busy = renderStatusBadge({ word: 'Busy with a run', icon: 'loader-circle', tone: 'running' });
  return html`${lockedBy ? html`<a href="${pagePath(pages.run, { id: lockedBy })}">${busy}</a>` : null}
${drifted ? html`<a href="${pagePath(pages.drift, {}, { instance_id: id })}">${driftedBadge}</a>` : null}`;
}

/** The buttons. Of two opposite actions, only the possible one is shown. */
function renderInstanceActions(instance: Instance, deployed: ShownRun | null, drift: DriftCheck | null): Html {
  const { id, name, template_id: template, environment_id: environment } = instance;
  const params = { id };
  const absent = [
    instance.state_serial === 0 ? 'forget_state' : 'import_state',
    // An instance that a run has deployed was not imported.
    ...(instance.deployed_run_id === null ? [] : ['forget_state']),
    ...(instance.locked_by_run_id === null ? ['unlock'] : []),
    // Instances of commands have no tool. An instance that was never deployed gets one with its first run.
    ...(instance.tool === null ? ['switch_tool'] : []),
  ];
  const holds = instance.resource_count > 0 || (deployed !== null && deployed.operation !== 'destroy');
  const deploy = instance.actions.find(({ name: action }) => action === 'deploy');
  const shown = [
    ...instance.actions.filter(({ name: action }) => !absent.includes(action)),
    // A destroy is a run, so it has the same condition as a deployment.
    ...(holds && deploy ? [{ ...deploy, name: 'destroy' }] : []),
    ...(holds && drift ? [{ ...drift.action, name: 'check_drift' }] : []),
  ];
  return renderActions(shown, {
    deploy: {
      label: 'Deploy',
      icon: 'rocket',
      tone: 'primary',
      path: pagePath(
        pages.newRun,
        { id: template },
        { instance: name, environment_id: environment ?? undefined, from_instance: id },
      ),
    },
    ...(drift && { check_drift: drift.button }),
    import_state: { label: 'Import a state', icon: 'import', path: pagePath(pages.importState, params) },
    forget_state: {
      label: 'Undo the import',
      icon: 'undo-2',
      path: pagePath(pages.forgetState, params),
    },
    switch_tool: {
      label: `Switch to ${describeTool({ name: otherTool(instance.tool) })}`,
      icon: 'refresh-cw',
      path: pagePath(pages.switchTool, params),
    },
    unlock: { label: 'Unlock', icon: 'lock', path: pagePath(pages.unlockInstance, params) },
    destroy: { label: 'Destroy', icon: 'octagon-x', tone: 'danger', path: pagePath(pages.destroyInstance, params) },
    delete: { label: 'Delete', icon: 'trash-2', tone: 'danger', path: pagePath(pages.deleteInstance, params) },
  });
}

function renderInstanceFacts(instance: Instance, deployed: ShownRun | null, names: Names): Html {
  const { template_id: template, environment_id: environment, locked_by_run_id: lockedBy } = instance;
  const nameOf = (id: string) => names.get(id)?.name ?? id;
  return renderFacts(
    [
      [
        'Template',
        html`<a class="foreign" href="${pagePath(pages.template, { id: template })}">${nameOf(template)}</a>`,
      ],
      [
        'Environment',
        environment
          ? html`<a class="foreign" href="${pagePath(pages.environment, { id: environment })}">${nameOf(environment)}</a>`
          : 'none',
      ],
      ['Team', instance.team_id ? renderTeamLink(instance.team_id, names) : 'None: it belongs to the installation'],
      [
        deployed?.operation === 'destroy' ? 'Destroyed by' : 'Deployed by',
        deployed ? renderDeployed(deployed) : 'No run yet',
      ],
      ['Assembly', deployed && renderAssemblyNode(deployed, names)],
      ['Busy with', lockedBy ? renderRunLink(lockedBy) : null],
      ['Tool', renderTool(instance)],
      ['Latest state', instance.state_serial === 0 ? 'none' : `#${instance.state_serial}`],
      ['Created', renderTime(instance.created_at)],
      ['Runs', html`<a href="${pagePath(pages.runs, {}, { instance_id: instance.id })}">All runs of this instance</a>`],
    ],
    { isWide: true },
  );
}

/** Its last successful run, with the deployed version and the requester. */
function renderDeployed({ id, operation, template_version: version, requested_by: by }: ShownRun): Html {
  const what = operation === 'destroy' ? null : `: version ${version}`;
  return html`${renderRunLink(id)}${what}, by <span class="foreign">${by.name}</span>`;
}

/** The tool that wrote its state, and the tool that its runs will use. */
function renderTool({ tool, tool_version: version, wanted_tool: wanted }: Instance): string | null {
  const used = tool && describeTool({ name: tool, version: version ?? undefined });
  const asked = wanted && `runs use ${describeTool(wanted)}`;
  return [used, asked].filter(Boolean).join('; ') || null;
}

/** The node of the assembly run that deployed it. */
function renderAssemblyNode({ assembly_node: node, assembly_run_id: runID }: ShownRun, names: Names): Html | null {
  if (node === null || runID === null) return null;
  const path = pagePath(pages.assemblyRun, { id: node.assembly_id, runID });
  return html`<span class="mono foreign">${node.key}</span> in <a class="foreign" href="${path}">${names.get(node.assembly_id)?.name ?? 'an assembly'}</a>`;
}

/** Says that a run changed the instance without recording everything, and what to do about it. Null if everything is recorded. */
async function renderUnrecorded(visit: InstanceVisit, instance: Instance): Promise<Html | null> {
  const { unrecorded_since: since } = instance;
  if (since === null) return null;
  const run = await visit.read(getRun, { params: { id: since.run_id }, query: {} });
  const isPartial = run.status === 'succeeded';
  const by = html`${renderRunLink(run.id)} (${renderAge(since.at)})`;
  return html`<div class="notice notice-problem">${renderIcon('triangle-alert')}<div class="stack">
<p><strong>${isPartial ? 'It may differ from its last deployment.' : 'It may hold resources that nothing recorded.'}</strong> ${isPartial ? html`Run ${by} changed only a part of it.` : html`The ${run.operation} of ${by} did not end well, so its last changes may be missing in the state.`}</p>
<p>${isPartial ? adviceAfterPart : adviceAfterFailure(run.id)} This notice ends with the next complete run, <a href="${pagePath(pages.drift, {}, { instance_id: instance.id })}">scan for drift</a> that a person starts, or import of a state. A scan by schedule does not end it.</p>
</div></div>`;
}

const adviceAfterPart = 'Run it again without options that leave something out.';

function adviceAfterFailure(runId: string): Html {
  return html`Read <a href="${runTabPath(runId, 'log')}">what the run did last</a>, then deploy again. A resource that exists and is not in the state must be imported, or removed by hand.`;
}

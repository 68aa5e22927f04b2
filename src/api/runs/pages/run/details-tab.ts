import { listAllRuns } from '#api/runs/lists/list-operations.ts';
import { copyScript } from '#api/web/components/copied.ts';
import { renderFacts } from '#api/web/components/facts.ts';
import { type Column, renderTable } from '#api/web/components/table.ts';
import { renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { describeTool } from '#api/workers/tool-words.ts';
import type { PrincipalKind } from '#domain/shared/vocabulary/roles.ts';
import { type Names, readNames } from '#domain/tenancy/names.ts';
import { operationWords } from '../labels.ts';
import type { RunTab, RunVisit, ShownRun } from '../run-tab.ts';
import { renderEnvironmentVariables, renderOutputs, renderVariables } from './values.ts';

type Used = ShownRun['connections'][number];

const columns: Column<Used>[] = [
  { label: 'Asked for as', kind: 'main', cell: ({ name }) => html`<span class="mono">${name}</span>` },
  {
    label: 'Connection',
    cell: ({ connection_id: id, connection }) =>
      id === null
        ? html`<span class="muted">hidden from you</span>`
        : html`<a class="foreign" href="${pagePath(pages.connection, { id })}">${connection}</a>`,
  },
  { label: 'Phase', cell: ({ phase }) => (phase === 'plan' ? 'Plan' : 'Apply') },
  { label: 'Credentials', kind: 'minor', cell: ({ credential_revision: revision }) => `revision ${revision}` },
];

/** The connections that the phases of a run used. Only visitors who may read connections see which ones. */
function renderConnections(used: readonly Used[]): Html {
  return renderTable({ caption: 'Connections that the run was given', rows: used, columns });
}

/** All facts about a run: who asked for it, what it ran and with which inputs, and its results. */
export const detailsTab: RunTab = {
  key: 'details',
  label: 'Details',
  scripts: [copyScript],
  async render(visit, run) {
    const names = await namesIn(visit, run);
    const { runs: started } = await visit.read(listAllRuns, {
      params: {},
      query: { scope: 'readable', started_by_run_id: run.id, limit: '100' },
    });
    const outputs = section('Outputs', renderOutputs(run.outputs));
    const gaveOutputs = Object.keys(run.outputs).length > 0;
    return html`<div class="run-details">
${gaveOutputs ? outputs : null}
${section('Request', renderRequest(run, names))}
${started.length === 0 ? null : section('Started because of its outputs', renderStarted(started))}
${section('Place', renderPlace(run, names))}
${section('Execution', renderExecution(run))}
${gaveOutputs ? null : outputs}
${section('Variables', renderVariables(run.variables, run.variable_sources, run.reads))}
${run.variable_sources === null ? null : section('Environment variables', renderEnvironmentVariables(run))}
${run.connections.length === 0 ? null : section('Connections', renderConnections(run.connections))}
</div>`;
  },
};

function section(title: string, content: Html): Html {
  const id = `details-${title.toLowerCase().replaceAll(' ', '-')}`;
  return html`<section class="panel run-section" aria-labelledby="${id}"><h2 id="${id}">${title}</h2>${content}</section>`;
}

function namesIn(visit: RunVisit, run: ShownRun): Promise<Names> {
  return readNames(visit.em, {
    teams: [run.team_id],
    projects: [run.project_id],
    environments: [run.environment_id],
    templates: [run.template_id],
    principals: [run.responsible_user_id],
  });
}

function nameOf(names: Names, id: string | null): string {
  return (id === null ? null : names.get(id)?.name) ?? 'deleted';
}

const kinds: Readonly<Record<PrincipalKind, string>> = {
  user: 'user',
  service_account: 'service account',
  background: 'background principal',
  system: 'the service itself',
};

function renderRequest(run: ShownRun, names: Names): Html {
  const { requested_by: by, responsible_user_id: responsible } = run;
  return renderFacts([
    ['Requested by', html`<span class="foreign">${by.name}</span> <span class="muted">(${kinds[by.type]})</span>`],
    [
      'Responsible',
      responsible === null || responsible === by.id
        ? null
        : html`<span class="foreign">${nameOf(names, responsible)}</span>`,
    ],
    ['Message', run.message ? html`<span class="foreign">${run.message}</span>` : null],
    ['Created', renderTime(run.created_at)],
    ['Started', run.started_at && renderTime(run.started_at)],
    ['Finished', run.finished_at && renderTime(run.finished_at)],
    ['Repeats', run.requeued_from && runLink(run.requeued_from, 'an earlier run')],
    ['Started by', run.started_by_run_id && runLink(run.started_by_run_id, 'changed outputs of another run')],
    ['Undoes', run.undoes && runLink(run.undoes, 'a run')],
    ['Undone by', run.undone_by && runLink(run.undone_by, 'a run')],
    ['Run', html`<code>${run.id}</code>`],
    ['Idempotency key', html`<code>${run.idempotency_key}</code>`],
  ]);
}

/** Runs of dependent instances that started because this run changed their inputs. */
function renderStarted(runs: readonly { readonly id: string; readonly instance: string }[]): Html {
  const lines = runs.map(
    ({ id, instance }) => html`<li><a class="foreign" href="${pagePath(pages.run, { id })}">${instance}</a></li>`,
  );
  return html`<ul>${lines}</ul>`;
}

function runLink(id: string, label: string): Html {
  return html`<a href="${pagePath(pages.run, { id })}">${label}</a>`;
}

function renderPlace(run: ShownRun, names: Names): Html {
  const { environment_id: environment, template_id: template, project_id: project } = run;
  return renderFacts([
    ['Instance', html`<a href="${pagePath(pages.instance, { id: run.instance_id })}">${run.instance}</a>`],
    [
      'Environment',
      environment &&
        html`<a class="foreign" href="${pagePath(pages.environment, { id: environment })}">${nameOf(names, environment)}</a>`,
    ],
    [
      'Project',
      project &&
        html`<a class="foreign" href="${pagePath(pages.project, { id: project })}">${nameOf(names, project)}</a>`,
    ],
    ['Team', run.team_id ? renderTeam(names, run.team_id) : 'the whole installation'],
    [
      'Template',
      html`<a class="foreign" href="${pagePath(pages.template, { id: template })}">${nameOf(names, template)}</a>`,
    ],
    [
      'Version',
      html`<a href="${pagePath(pages.templateVersion, { id: template, version: run.template_version })}">${run.template_version}</a>`,
    ],
  ]);
}

function renderTeam(names: Names, id: string): Html {
  const organizationId = names.get(id)?.organizationId;
  if (!organizationId) return html`<span class="foreign">${nameOf(names, id)}</span>`;
  return html`<a class="foreign" href="${pagePath(pages.team, { orgID: organizationId, id })}">${nameOf(names, id)}</a>`;
}

const isolationWords = {
  sandbox: 'Template code ran in a sandbox',
  none: 'Template code ran without a sandbox',
} as const;

function renderExecution(run: ShownRun): Html {
  return renderFacts([
    ['Operation', operationWords[run.operation]],
    ['Replaces', run.replace.length > 0 ? html`<span class="foreign mono">${run.replace.join(', ')}</span>` : null],
    ...renderOptions(run),
    ['Pool', html`<a href="${pagePath(pages.workerPool, { name: run.pool })}">${run.pool}</a>`],
    ['Tool', run.tool && describeTool(run.tool)],
    ['Switches to', run.tool_switch && describeTool(run.tool_switch)],
    ['Isolation', run.isolation && isolationWords[run.isolation]],
    [run.operation === 'scan' ? 'Result' : 'Plan', run.plan && html`<code class="foreign">${run.plan.digest}</code>`],
    ['State before', stateLink(run, run.state_serial_before)],
    ['State after', stateLink(run, run.state_serial_after)],
    ['What changed', compareLink(run)],
  ]);
}

/** The options that differ from the defaults. */
function renderOptions({ id, options }: ShownRun): [string, Html | string | null][] {
  const { target, exclude, refresh, parallelism, log_level: level } = options;
  const addresses = (list: readonly string[]) =>
    list.length > 0 ? html`<span class="foreign mono">${list.join(', ')}</span>` : null;
  return [
    ['Only', addresses(target)],
    ['All except', addresses(exclude)],
    ['Refresh', refresh ? null : 'skipped: compares with the state only'],
    ['Parallelism', parallelism === null ? null : String(parallelism)],
    [
      'Debug log',
      level && html`level ${level}: <a href="${pagePath(pages.runDebugLog, { id })}" download>download</a>`,
    ],
  ];
}

/** Links to a state version. Serial 0 means that the instance had no state yet. */
function stateLink({ instance_id: id }: ShownRun, serial: number | null): Html | string | null {
  if (serial === null) return null;
  if (serial === 0) return 'none';
  return html`<a href="${pagePath(pages.stateVersion, { id, serial: String(serial) })}">version ${serial}</a>`;
}

function compareLink({ instance_id: id, state_serial_before: from, state_serial_after: to }: ShownRun): Html | null {
  if (!from || !to || from === to) return null;
  const path = pagePath(pages.compareStates, { id }, { from: String(from), to: String(to) });
  return html`<a href="${path}">Compare the two states</a>`;
}

import { getFreezeWindows } from '#api/holds/environment-operations.ts';
import { renderFreezeWindow, type ShownWindow } from '#api/holds/pages/labels.ts';
import { renderAction } from '#api/web/components/actions.ts';
import { renderFacts } from '#api/web/components/facts.ts';
import { renderTable } from '#api/web/components/table.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { describeTool } from '#api/workers/tool-words.ts';
import { allowedOptions, type RunOptionName, runOptionNames } from '#domain/shared/vocabulary/run-options.ts';
import { describePolicy, type Environment, kindWords, optionWords } from './labels.ts';

/** The protection of an environment: its approval policy, its required isolation, and its times without applies. */
export async function renderProtection(visit: Visit<{ id: string }>, environment: Environment): Promise<Html> {
  const { freeze_windows: windows } = await visit.read(getFreezeWindows, { params: visit.params });
  const update = environment.actions.find(({ name }) => name === 'update');
  return html`<section class="panel stack" aria-labelledby="policy">
<h2 id="policy">Approval and isolation</h2>
${renderFacts([
  ['Kind', kindWords[environment.kind]],
  ['Approval', describePolicy(environment.approval_policy)],
  ['Isolation', environment.isolation === null ? 'Runs use any worker.' : 'Runs use only workers with a sandbox.'],
  [
    'Run options',
    describeOptions(allowedOptions({ kind: environment.kind, allowedOptions: environment.allowed_options })),
  ],
  [
    'Secrets while planning',
    environment.plan_secrets === null
      ? 'Plans get the secrets that applies get, unless a variable says otherwise.'
      : 'Runs are refused whose plan would get the same secrets as their apply.',
  ],
  [
    'Tool',
    environment.tool === null
      ? 'Set by the templates.'
      : `Runs use ${describeTool(environment.tool)}, within what their templates ask for.`,
  ],
  [
    'Time to live',
    environment.ttl === null
      ? 'None: deployments stay until they are destroyed.'
      : `Deployments are destroyed after ${environment.ttl}.`,
  ],
])}
</section>
<section class="panel stack" aria-labelledby="windows">
<div class="page-head"><h2 id="windows">Freeze windows</h2>${
    update
      ? renderAction(update, {
          label: 'Edit freeze windows',
          icon: 'snowflake',
          path: pagePath(pages.freezeWindows, { id: environment.id }),
        })
      : null
  }</div>
<p class="muted">Times at which no apply starts. Runs can still plan and wait for review.</p>
${windows.length > 0 ? html`<div class="list-panel">${renderWindows(windows)}</div>` : html`<p>No freeze windows.</p>`}
</section>`;
}

function describeOptions(allowed: readonly RunOptionName[]): string {
  const forbidden = runOptionNames.filter((name) => !allowed.includes(name));
  if (forbidden.length === 0) return 'Runs may use all options.';
  return `Runs may use all options, except: ${forbidden.map((name) => optionWords[name]).join(', ')}.`;
}

function renderWindows(windows: readonly ShownWindow[]): Html {
  return renderTable<ShownWindow>({
    caption: 'Freeze windows',
    rows: windows,
    columns: [
      { label: 'Name', kind: 'main', cell: ({ name }) => html`<span class="foreign">${name}</span>` },
      { label: 'When', cell: renderFreezeWindow },
      { label: 'Reason', cell: ({ reason }) => (reason ? html`<span class="foreign">${reason}</span>` : null) },
    ],
  });
}

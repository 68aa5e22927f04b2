import type { Fact } from '#api/web/components/facts.ts';
import { renderTable } from '#api/web/components/table.ts';
import { type Html, html } from '#api/web/html.ts';
import { TemplateSpec } from '#domain/registry/spec.ts';
import { defaultPool } from '#domain/shared/vocabulary/pools.ts';

/** The spec of a published version, with its defaults. */
export function readSpec(spec: unknown): TemplateSpec {
  return TemplateSpec.parse(spec);
}

const approvalWords = {
  never: 'never',
  destroys: 'when something is destroyed',
  changes: 'when something changes',
  always: 'when something changes',
} as const;

/** How runs of the version are approved, limited in time, and placed. */
export function renderRules({
  approval,
  timeouts = {},
  pool,
  retry_safe: isRetrySafe,
  connections,
  executor,
}: TemplateSpec): Fact[] {
  const git = executor.kind === 'opentofu' ? executor.git : undefined;
  const limits = Object.entries(timeouts).map(([phase, time]) => `${phase} ${time}`);
  return [
    ['Approval', approval ? `${approval.required}, ${approvalWords[approval.when]}` : 'As the environment requires'],
    ['Time limits', limits.length > 0 ? limits.join(', ') : 'Default'],
    ['Worker pool', pool ?? defaultPool],
    ['Retry after a lost worker', isRetrySafe ? 'Yes' : 'Plans only'],
    ['Connections', connections?.map(({ name, kind }) => `${name} (${kind})`).join(', ')],
    [
      'Source',
      git
        ? html`<span class="foreign">${git.url}</span><br><code class="foreign">${git.ref}${git.path ? ` / ${git.path}` : ''}</code>`
        : null,
    ],
  ];
}

/** The outputs of a version's runs. */
export function renderOutputs({ outputs }: TemplateSpec): Html | null {
  const rows = Object.entries(outputs);
  if (rows.length === 0) return null;
  type Row = (typeof rows)[number];
  const columns = [
    { label: 'Output', kind: 'main', cell: ([name]: Row) => html`<code class="foreign">${name}</code>` },
    {
      label: 'Description',
      cell: ([, { description }]: Row) => html`<span class="foreign">${description ?? ''}</span>`,
    },
    { label: 'Shown', cell: ([, { sensitive }]: Row) => (sensitive ? 'Masked' : 'Yes') },
  ] as const;
  return html`<section class="stack"><h2>Outputs</h2><div class="list-panel">${renderTable({ caption: 'Outputs', columns, rows })}</div></section>`;
}

/** The programs that a command template runs, by phase. */
export function renderSteps({ executor }: TemplateSpec): Html | null {
  if (executor.kind !== 'command') return null;
  const phases = (['plan', 'apply', 'destroy', 'detect'] as const).flatMap((phase) => {
    const steps = executor[phase];
    return steps ? [{ phase, steps }] : [];
  });
  return html`<section class="panel stack"><h2>Steps</h2><dl class="facts">${phases.map(
    ({ phase, steps }) =>
      html`<dt>${phase}</dt><dd><ol class="step-list">${steps.map(
        ({ name, run, timeout }) =>
          html`<li><span class="foreign">${name}</span> <code class="foreign">${run.join(' ')}</code>${timeout ? html` <span class="muted">at most ${timeout}</span>` : null}</li>`,
      )}</ol></dd>`,
  )}</dl></section>`;
}

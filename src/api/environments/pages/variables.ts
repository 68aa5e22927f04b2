import type { z } from 'zod';
import type { VariableView } from '#api/variables/views.ts';
import { renderEmpty, renderPager, renderTable } from '#api/web/components/table.ts';
import { renderAge } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages, type Query } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { list } from '../variable-operations.ts';
import type { Environment } from './words.ts';

type Variable = z.input<typeof VariableView>;

/** Lists what the runs of an environment get. */
export async function renderVariables(visit: Visit<{ id: string }>, { id, actions }: Environment): Promise<Html> {
  const cursor = visit.query('cursor');
  const { variables, next_cursor: next } = await visit.read(list, { params: { id }, query: { cursor } });
  const mayChange = actions.some(({ name, allowed }) => name === 'update' && allowed);
  const add = mayChange
    ? html`<a class="button button-plain" href="${pagePath(pages.newEnvironmentVariable, { id })}">Add a variable</a>`
    : null;
  const link = (query: Query) => pagePath(pages.environment, { id }, { tab: 'variables', ...query });
  return html`<div class="page-head"><p class="muted">Defaults for variables of templates, and environment variables of the tools that runs use.</p>${add}</div>
<div class="list-panel">${
    variables.length > 0
      ? renderRows(id, variables, mayChange)
      : renderEmpty(
          'No variables',
          'A variable is given to every run of this environment, such as a region or a credential.',
        )
  }</div>
${renderPager({ first: cursor ? link({}) : null, next: next ? link({ cursor: next }) : null })}`;
}

const phaseWords = (phases: readonly string[]) => (phases.length === 2 ? 'plan and apply' : `${phases[0]} only`);

function renderRows(id: string, variables: readonly Variable[], mayChange: boolean): Html {
  return renderTable<Variable>({
    caption: 'Variables',
    rows: variables,
    rowId: ({ name }) => `v-${name}`,
    columns: [
      {
        label: 'Name',
        kind: 'main',
        cell: ({ name }) =>
          mayChange
            ? html`<a class="mono" href="${pagePath(pages.environmentVariable, { id, name })}">${name}</a>`
            : html`<span class="mono">${name}</span>`,
      },
      { label: 'Value', cell: renderValue },
      {
        label: 'Given as',
        cell: ({ category }) => (category === 'env' ? 'environment variable' : 'default of the template'),
      },
      { label: 'Given while', cell: ({ phases }) => phaseWords(phases) },
      { label: 'Changed', kind: 'minor', cell: ({ updated_at: at }) => renderAge(at) },
    ],
  });
}

/** The value, and the one that planning gets in its place. */
function renderValue({ sensitive, value, plan_value: planValue, has_plan_value: hasPlanValue }: Variable): Html {
  if (sensitive)
    return html`<span class="muted">secret, not shown${hasPlanValue ? '; planning gets another one' : null}</span>`;
  return html`${renderPlain(value)}${hasPlanValue ? html` <span class="muted">planning gets</span> ${renderPlain(planValue)}` : null}`;
}

function renderPlain(value: JsonValue): Html {
  return html`<code class="foreign">${typeof value === 'string' ? value : JSON.stringify(value)}</code>`;
}

import type { z } from 'zod';
import { renderTable } from '#api/web/components/table.ts';
import { renderAge } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import type { LocalPath } from '#api/web/paths.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { VariableCategory } from '#domain/variables/model.ts';
import type { VariableView } from '../views.ts';

export type ListedVariable = z.input<typeof VariableView>;

/** How runs use a variable of this category. */
export const categoryWords: Readonly<Record<VariableCategory, string>> = {
  template: 'default of the template',
  env: 'environment variable',
};

const phaseWords = (phases: readonly string[]) => (phases.length === 2 ? 'plan and apply' : `${phases[0]} only`);

/**
 * A table of variables with their values, except secret ones. `linkOf` returns the form that changes one; null if the visitor may not
 * change it.
 */
export function renderVariableTable(
  variables: readonly ListedVariable[],
  linkOf: (variable: ListedVariable) => LocalPath | null,
): Html {
  return renderTable<ListedVariable>({
    caption: 'Variables',
    rows: variables,
    rowId: ({ name }) => `v-${name}`,
    columns: [
      {
        label: 'Name',
        kind: 'main',
        cell: (variable) => {
          const path = linkOf(variable);
          return path === null
            ? html`<span class="mono">${variable.name}</span>`
            : html`<a class="mono" href="${path}">${variable.name}</a>`;
        },
      },
      { label: 'Value', cell: renderValue },
      { label: 'Type', cell: ({ category }) => categoryWords[category] },
      { label: 'Available while', cell: ({ phases }) => phaseWords(phases) },
      { label: 'Changed', kind: 'minor', cell: ({ updated_at: at }) => renderAge(at) },
    ],
  });
}

/** The value, and the value for planning if that differs. */
function renderValue(variable: ListedVariable): Html {
  const { sensitive, value, plan_value: planValue, has_plan_value: hasPlanValue } = variable;
  if (sensitive) return html`<span class="muted">Secret, not shown${describePlanning(variable)}</span>`;
  return html`${renderPlain(value)}${hasPlanValue ? html` <span class="muted">planning gets</span> ${renderPlain(planValue)}` : null}`;
}

function describePlanning({
  has_plan_value: hasPlanValue,
  plan_gets_secret: planGetsSecret,
}: ListedVariable): string | null {
  if (hasPlanValue) return '; planning gets another one';
  return planGetsSecret ? '; planning gets it too' : null;
}

function renderPlain(value: JsonValue): Html {
  if (value === '') return html`<span class="muted">an empty text</span>`;
  return html`<code class="foreign">${typeof value === 'string' ? value : JSON.stringify(value)}</code>`;
}

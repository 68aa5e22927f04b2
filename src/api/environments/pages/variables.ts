import { renderSetsOfEnvironment } from '#api/variable-sets/pages/giving.ts';
import { type ListedVariable, renderVariableTable } from '#api/variables/pages/table.ts';
import { renderUnknownDefaults } from '#api/variables/pages/unknown-defaults.ts';
import { renderIcon } from '#api/web/components/icon.ts';
import { renderEmpty, renderPages } from '#api/web/components/table.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { list } from '../variable-operations.ts';
import type { Environment } from './words.ts';

/** Lists what the runs of an environment get: its own variables, and those of variable sets. */
export async function renderVariables(visit: Visit<{ id: string }>, environment: Environment): Promise<Html> {
  const { id, actions } = environment;
  const cursor = visit.query('cursor');
  const { variables, next_cursor: next } = await visit.read(list, { params: { id }, query: { cursor } });
  const mayChange = actions.some(({ name, allowed }) => name === 'update' && allowed);
  const add = mayChange
    ? html`<a class="button button-plain" href="${pagePath(pages.newEnvironmentVariable, { id })}">Add a variable</a>`
    : null;
  return html`${await renderUnknownDefaults(visit, { teamId: environment.team_id, organizationId: null }, variables)}<div class="page-head"><p class="muted">Defaults for variables of templates, and environment variables of the tools that runs use.</p>${add}</div>
${warnOfSecrets(environment, variables)}<div class="list-panel">${
    variables.length > 0
      ? renderVariableTable(variables, ({ name }) =>
          mayChange ? pagePath(pages.environmentVariable, { id, name }) : null,
        )
      : renderEmpty(
          'No variables',
          'A variable is given to every run of this environment, such as a region or a credential.',
        )
  }</div>
${renderPages({ cursor, next }, (query) => pagePath(pages.environment, { id }, { tab: 'variables', ...query }))}
${await renderSetsOfEnvironment(visit, environment)}`;
}

/** Lists the secrets that plans get unchanged, in production and in environments that demand weaker secrets for plans. */
function warnOfSecrets({ kind, plan_secrets: demand }: Environment, variables: readonly ListedVariable[]): Html | null {
  const given = variables.filter(({ plan_gets_secret: isGiven }) => isGiven);
  const names = given.map(({ name }, index) => html`${index > 0 ? ', ' : null}<span class="mono">${name}</span>`);
  if (names.length === 0 || (kind !== 'production' && demand === null)) return null;
  const consequence =
    demand === null
      ? 'Anyone who may start a plan can have it print them.'
      : 'Runs that get one of them are refused, unless their template declares it as ephemeral.';
  return html`<div class="notice notice-wait">${renderIcon('triangle-alert')}<p><strong>Plans get the same secrets as applies: ${names}.</strong> ${consequence} Give another value for planning, or give the variable while applying only.</p></div>`;
}

import { renderSetsOfEnvironment } from '#api/variable-sets/pages/giving.ts';
import { renderVariableTable } from '#api/variables/pages/table.ts';
import { renderUnknownDefaults } from '#api/variables/pages/unknown-defaults.ts';
import { renderIcon } from '#api/web/components/icon.ts';
import { renderEmpty, renderPages } from '#api/web/components/table.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { findGivenNames, type GivenName } from '#domain/variables/given-names.ts';
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
${await warnOfSecrets(visit, environment)}<div class="list-panel">${
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

/** Lists the secrets that plans get unchanged, in production and in environments that demand weaker secrets for plans, whatever gives them. */
async function warnOfSecrets(visit: Visit<{ id: string }>, environment: Environment): Promise<Html | null> {
  const { id, kind, plan_secrets: demand } = environment;
  if (kind !== 'production' && demand === null) return null;
  const all = await findGivenNames(visit.em, id);
  const given = all.filter(({ winner, planGetsSecret }) => winner === null && planGetsSecret);
  if (given.length === 0) return null;
  const ofTools = given.filter(({ category }) => category === 'env');
  const ofTemplates = given.filter(({ category }) => category === 'template');
  const unless = ofTemplates.length > 0 ? ', unless it is a variable that their template declares as ephemeral' : '';
  const consequence =
    demand === null
      ? 'Anyone who may start a plan can have it print them.'
      : `Runs that get one of them are refused${unless}.`;
  return html`<div class="notice notice-wait">${renderIcon('triangle-alert')}<div class="stack"><p><strong>Plans get the same secrets as applies: ${listNames(given)}.</strong> ${consequence}</p>
${ofTools.length > 0 ? html`<p>Give environment variables (${listNames(ofTools)}) another value for planning, or make them available while applying only.</p>` : null}${ofTemplates.length > 0 ? html`<p>Variables of templates (${listNames(ofTemplates)}) are part of what is planned, so they have one value: declare them as ephemeral in the template, or use environment variables instead.</p>` : null}</div></div>`;
}

function listNames(given: readonly GivenName[]): Html[] {
  return given.map(({ name, from }, index) => {
    const set = from.kind === 'variable_set' ? html` of the set <span class="foreign">${from.name}</span>` : null;
    return html`${index > 0 ? ', ' : null}<span class="mono">${name}</span>${set}`;
  });
}

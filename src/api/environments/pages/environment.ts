import type { FastifyReply } from 'fastify';
import { renderBindingsOfEnvironment } from '#api/connections/pages/bindings-list.ts';
import { list as listInstances } from '#api/instances/operations.ts';
import { listOfEnvironment as listReviewers } from '#api/runs/approvals/reviewer-operations.ts';
import { renderShortage } from '#api/runs/pages/reviewers/labels.ts';
import { environmentsCrumb, renderArchivedBadge } from '#api/tenancy/pages/views.ts';
import { renderSetsOfEnvironment } from '#api/variable-sets/pages/attached-sets.ts';
import { renderVariableTable } from '#api/variables/pages/table.ts';
import { renderUnknownDefaults } from '#api/variables/pages/unknown-defaults.ts';
import { renderActions } from '#api/web/components/actions.ts';
import { renderConfirmation } from '#api/web/components/confirmation.ts';
import { renderIcon } from '#api/web/components/icon.ts';
import { type Crumb, renderPageHead } from '#api/web/components/page-head.ts';
import { renderEmpty, renderPages } from '#api/web/components/table.ts';
import { renderTabs } from '#api/web/components/tabs.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { describeClosed } from '#domain/shared/features/gates.ts';
import { type Names, readNames } from '#domain/tenancy/names.ts';
import { findGivenNames, type GivenName } from '#domain/variables/given-names.ts';
import { get } from '../operations.ts';
import { list } from '../variable-operations.ts';
import { renderInstanceTable } from './instance-table.ts';
import { type Environment, kindWords, renderHold } from './labels.ts';
import { renderProtection } from './protection.ts';

type EnvironmentVisit = Visit<{ id: string }>;

interface Part {
  readonly key: string;
  readonly label: string;
  readonly render: (visit: EnvironmentVisit, environment: Environment) => Promise<Html>;
}

const parts: readonly [Part, ...Part[]] = [
  { key: 'instances', label: 'Deployed', render: renderInstances },
  { key: 'variables', label: 'Variables', render: renderVariables },
  { key: 'connections', label: 'Connections', render: renderBindingsOfEnvironment },
  { key: 'protection', label: 'Protection', render: renderProtection },
];

/** Shows an environment: its instances, the variables of its runs, and its protection. */
export async function showEnvironment(visit: EnvironmentVisit): Promise<FastifyReply> {
  const environment = await visit.read(get, { params: visit.params });
  const names = await readNames(visit.em, { projects: [environment.project_id], teams: [environment.team_id] });
  const { id } = environment;
  const part = parts.find(({ key }) => key === visit.query('tab')) ?? parts[0];
  return visit.show({
    title: environment.name,
    main: html`<div class="page page-wide">
${renderPageHead({
  title: environment.name,
  crumbs: crumbsOf(environment, names),
  beside: html`<span class="badge">${kindWords[environment.kind]}</span>${renderArchivedBadge(
    environment.archived_at,
  )}`,
  below: html`Team <a class="foreign" href="${pagePath(pages.team, { orgID: environment.organization_id, id: environment.team_id })}">${names.get(environment.team_id)?.name ?? ''}</a> · <a href="${pagePath(pages.runs, {}, { environment_id: id })}">Runs</a> · ${renderAssembliesLink(visit, id)}<a href="${pagePath(pages.environmentReviewers, { id })}">Who can approve</a>`,
  actions: renderEnvironmentActions(environment),
  history: ['environments', id],
})}
${renderConfirmation(visit, pages.environment)}
${renderHold(environment)}
${renderShortage(await visit.read(listReviewers, { params: visit.params }), 'environment')}
${renderTabs(
  'Parts of the environment',
  parts.map(({ key, label }) => ({
    label,
    path: pagePath(pages.environment, { id }, key === parts[0].key ? {} : { tab: key }),
    isCurrent: key === part.key,
  })),
)}
${await part.render(visit, environment)}
</div>`,
  });
}

export function crumbsOf({ project_id: id }: Environment, names: Names): Crumb[] {
  return [environmentsCrumb, { label: names.get(id)?.name ?? 'Project', path: pagePath(pages.project, { id }) }];
}

/** A link to the assemblies that deploy there; null while assemblies are turned off. */
function renderAssembliesLink({ principal }: EnvironmentVisit, id: string): Html | null {
  if (describeClosed('assemblies', principal.closedFeatures) !== null) return null;
  return html`<a href="${pagePath(pages.assemblies, {}, { environment_id: id })}">Assemblies</a> · `;
}

/** The buttons. Of two opposite actions, such as lock and unlock, only the possible one is shown. */
function renderEnvironmentActions({ id, actions, lock, archived_at: archivedAt }: Environment): Html {
  const params = { id };
  const absent = [lock ? 'lock' : 'unlock', archivedAt ? 'archive' : 'unarchive'];
  const shown = actions.filter(({ name }) => !absent.includes(name));
  return renderActions(shown, {
    deploy: {
      label: 'Deploy a template',
      icon: 'rocket',
      tone: 'primary',
      path: pagePath(pages.catalog, {}, { environment_id: id }),
    },
    update: { label: 'Edit', icon: 'pencil', path: pagePath(pages.editEnvironment, params) },
    lock: { label: 'Lock', icon: 'lock', path: pagePath(pages.lockEnvironment, params) },
    unlock: { label: 'Unlock', icon: 'lock', path: pagePath(pages.unlockEnvironment, params) },
    archive: { label: 'Archive', icon: 'archive', path: pagePath(pages.archiveEnvironment, params) },
    unarchive: { label: 'Unarchive', icon: 'archive', path: pagePath(pages.unarchiveEnvironment, params) },
    delete: { label: 'Delete', icon: 'trash-2', tone: 'danger', path: pagePath(pages.deleteEnvironment, params) },
  });
}

async function renderInstances(visit: EnvironmentVisit, { id }: Environment): Promise<Html> {
  const { instances, next_cursor: next } = await visit.read(listInstances, { query: { environment_id: id } });
  if (instances.length === 0) {
    return html`<div class="list-panel">${renderEmpty(
      'Nothing is deployed here',
      'Instances appear when a template is deployed in this environment.',
      html`<a class="button button-primary" href="${pagePath(pages.catalog, {}, { environment_id: id })}">Choose a template</a>`,
    )}</div>`;
  }
  return html`<div class="list-panel">${await renderInstanceTable(visit, instances, { inEnvironment: true })}</div>
${next ? html`<p><a href="${pagePath(pages.instances, {}, { environment_id: id })}">All instances of this environment</a></p>` : null}`;
}

/** Lists the variables of an environment's runs: its own, and those of variable sets. */
async function renderVariables(visit: Visit<{ id: string }>, environment: Environment): Promise<Html> {
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

/**
 * Warns of secrets that planning gets unchanged, from any source, in production and in environments that require weaker secrets for
 * planning.
 */
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

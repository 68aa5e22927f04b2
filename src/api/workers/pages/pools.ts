import type { FastifyReply } from 'fastify';
import { renderActions } from '#api/web/components/actions.ts';
import { renderFacts } from '#api/web/components/facts.ts';
import { renderTeamLink } from '#api/web/components/links/resource-links.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderTime } from '#api/web/components/time.ts';
import { renderForm } from '#api/web/forms/form.ts';
import type { Typed } from '#api/web/forms/form-page.ts';
import { type FormProblems, submit } from '#api/web/forms/problems.ts';
import { revisionName } from '#api/web/forms/read-form.ts';
import { requireAuthority, revisionField } from '#api/web/forms/resource-forms.ts';
import { openedName } from '#api/web/forms/stale.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { type Names, readNames } from '#domain/tenancy/names.ts';
import { get, update } from '../pool-operations.ts';
import { workersCrumb } from './labels.ts';
import { readRuleFields, toRules, toTyped } from './pool-fields.ts';
import { describeAudience, describeEgress, type Pool, renderUse } from './workers.ts';

type PoolVisit = Visit<{ name: string }>;

/** Shows a pool, with the form that changes it for visitors who may. */
export async function showPool(visit: PoolVisit): Promise<FastifyReply> {
  return show(visit, null, null);
}

async function show(visit: PoolVisit, typed: Typed | null, problems: FormProblems | null): Promise<FastifyReply> {
  const pool = await visit.read(get, { params: visit.params });
  const shownNames = await readNames(visit.em, {
    teams: pool.team_ids ?? [],
    environments: pool.environment_ids ?? [],
  });
  const mayChange = pool.actions.some(({ name: action, allowed }) => action === 'update' && allowed);
  const { name } = pool;
  const [present, fields] = mayChange ? await Promise.all([toTyped(visit, pool), readRuleFields(visit)]) : [{}, []];
  const page = {
    title: `Pool ${name}`,
    hasProblem: problems !== null,
    main: html`<div class="page">
${renderPageHead({
  title: `Pool ${name}`,
  crumbs: [workersCrumb],
  actions: renderActions(pool.actions, {
    delete: { label: 'Delete', icon: 'trash-2', tone: 'danger', path: pagePath(pages.deleteWorkerPool, { name }) },
  }),
})}
<div class="panel">${renderPoolFacts(pool, shownNames)}</div>
${
  mayChange
    ? html`<section class="section" aria-labelledby="rules"><div class="section-head"><h2 id="rules">Rules</h2><p class="muted">They apply when a run is created, and again when it starts.</p></div>
<div class="panel">${renderForm({
        action: pagePath(pages.workerPool, { name }),
        fields: [
          ...fields.map((field) => ({ ...field, value: (present as Typed)[field.name] })),
          ...(pool.revision === null ? [] : [revisionField({ revision: pool.revision })]),
        ],
        typed: typed ?? {},
        submit: 'Save rules',
        problems,
      })}</div></section>`
    : null
}
</div>`,
  };
  return visit.show(page, problems?.status ?? 200);
}

function renderPoolFacts(pool: Pool, shownNames: Names): Html {
  return renderFacts([
    ['Slots in use', renderUse(pool.running, pool.concurrency)],
    ['Waiting', pool.queued],
    [
      'Workers',
      html`<a href="${pagePath(pages.workers, {}, { pool: pool.name })}">${pool.workers}</a>, ${pool.contained_workers} with a sandbox`,
    ],
    ['Open to', describeAudience(pool)],
    ['Teams', renderLinks(pool.team_ids, (id) => renderTeamLink(id, shownNames))],
    ['Environments', renderLinks(pool.environment_ids, (id) => renderEnvironmentLink(id, shownNames))],
    ['Isolation', pool.isolation === null ? 'any worker' : 'only workers with a sandbox'],
    ['Network access', describeEgress(pool.egress)],
    ['Allowed hosts', pool.egress.allow.join(', ')],
    ['One team holds', `at most ${pool.max_team_percent} % of the slots, if several teams may use the pool`],
    ['One person holds', `at most ${pool.max_person_percent} % of the slots then, while others want some`],
    ['Created', pool.created_at ? renderTime(pool.created_at) : 'by its first worker, open to everybody'],
  ]);
}

/** Links to the listed things. If the list is null or empty, "Open to" already says so. */
function renderLinks(ids: readonly string[] | null, render: (id: string) => Html): Html | null {
  if (ids === null || ids.length === 0) return null;
  return html`<ul class="plain-list" role="list">${ids.map((id) => html`<li>${render(id)}</li>`)}</ul>`;
}

function renderEnvironmentLink(id: string, names: Names): Html {
  return html`<a class="foreign" href="${pagePath(pages.environment, { id })}">${names.get(id)?.name ?? id}</a>`;
}

export async function submitPool(visit: PoolVisit): Promise<FastifyReply> {
  const names = (await readRuleFields(visit)).map(({ name }) => name);
  const typed = visit.form(...names, revisionName, openedName);
  const result = await submit(visit, names, async () => {
    requireAuthority(visit, update);
    return visit.run(update, { params: visit.params, body: await toRules(visit, typed) });
  });
  if (!result.done) return show(visit, typed, result.problems);
  return visit.redirect(pagePath(pages.workers, {}, { done: 'pool-saved' }));
}

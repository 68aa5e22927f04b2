import type { FastifyReply } from 'fastify';
import { renderActions } from '#api/web/components/actions.ts';
import { renderFacts } from '#api/web/components/facts.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderTime } from '#api/web/components/time.ts';
import { confirmationPage } from '#api/web/forms/confirmation.ts';
import { type FormField, renderForm } from '#api/web/forms/form.ts';
import { type FormProblems, submit } from '#api/web/forms/problems.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { type Names, readNames } from '#domain/tenancy/names-store.ts';
import { create, deleteWorkerPool, get, update } from '../pool-operations.ts';
import { describeAudience, describeEgress, type Pool, renderUse } from './workers.ts';

type PoolVisit = Visit<{ name: string }>;
const crumbs = [{ label: 'Workers', path: pagePath(pages.workers) }];
const names = [
  ...([
    'name',
    'team_ids',
    'environment_ids',
    'isolation',
    'egress.policy',
    'egress.allow',
    'expected_revision',
  ] as const),
] as const;
type Typed = Readonly<Record<(typeof names)[number], string>>;

/** Shows a pool, with the form that changes it for those who may. */
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
  const page = {
    title: `Pool ${name}`,
    hasProblem: problems !== null,
    main: html`<div class="page">
${renderPageHead({
  title: `Pool ${name}`,
  crumbs,
  actions: renderActions(pool.actions, {
    delete: { label: 'Delete', icon: 'trash-2', tone: 'danger', path: pagePath(pages.deleteWorkerPool, { name }) },
  }),
})}
<div class="panel">${renderPoolFacts(pool, shownNames)}</div>
${
  mayChange
    ? html`<section class="section" aria-labelledby="rules"><div class="section-head"><h2 id="rules">Rules</h2><p class="muted">They hold at admission, and again when a run starts.</p></div>
<div class="panel">${renderForm({
        action: pagePath(pages.workerPool, { name }),
        fields: ruleFields,
        typed: typed ?? toTyped(pool),
        submit: 'Save the rules',
        problems,
      })}</div></section>`
    : null
}
</div>`,
  };
  return visit.show(page, problems?.status ?? 200);
}

function renderPoolFacts(pool: Pool, shownNames: Names): Html {
  const listed = (ids: readonly string[] | null) => ids?.map((id) => shownNames.get(id)?.name ?? id).join(', ');
  return renderFacts([
    ['Slots in use', renderUse(pool.running, pool.concurrency)],
    ['Waiting', pool.queued],
    [
      'Workers',
      html`<a href="${pagePath(pages.workers, {}, { pool: pool.name })}">${pool.workers}</a>, ${pool.contained_workers} with a sandbox`,
    ],
    ['Open to', describeAudience(pool)],
    ['Teams', listed(pool.team_ids)],
    ['Environments', listed(pool.environment_ids)],
    ['Isolation', pool.isolation === null ? 'any worker' : 'only workers with a sandbox'],
    ['Template code reaches', describeEgress(pool.egress)],
    ['Named places', pool.egress.allow.join(', ')],
    ['Created', pool.created_at ? renderTime(pool.created_at) : 'by its first worker: it is open to everybody'],
  ]);
}

const ruleFields: FormField[] = [
  {
    name: 'team_ids',
    label: 'Teams',
    kind: 'area',
    isOptional: true,
    hint: 'Ids of the teams that may use it, one in a line. Empty: all teams. The word none: no team.',
  },
  {
    name: 'environment_ids',
    label: 'Environments',
    kind: 'area',
    isOptional: true,
    hint: 'Ids, one in a line. Empty: all environments. The word none: no environment.',
  },
  {
    name: 'isolation',
    label: 'Workers',
    kind: 'select',
    choices: [
      { value: '', label: 'Any worker executes its runs' },
      { value: 'sandbox', label: 'Only workers with a sandbox' },
    ],
  },
  {
    name: 'egress.policy',
    label: 'Template code reaches',
    kind: 'select',
    value: 'internet',
    choices: [
      { value: 'internet', label: 'The internet' },
      { value: 'allow', label: 'Only the places below' },
      { value: 'none', label: 'Nothing' },
    ],
  },
  {
    name: 'egress.allow',
    label: 'Named places',
    kind: 'area',
    isOptional: true,
    hint: 'One in a line, such as registry.opentofu.org:443 or 10.0.0.0/8.',
  },
  { name: 'expected_revision', label: 'Revision', kind: 'hidden' },
];

function toTyped({ team_ids, environment_ids, isolation, egress, revision }: Pool): Record<string, string> {
  const list = (ids: readonly string[] | null) => (ids === null ? '' : ids.length === 0 ? 'none' : ids.join('\n'));
  return {
    team_ids: list(team_ids),
    environment_ids: list(environment_ids),
    isolation: isolation ?? '',
    'egress.policy': egress.policy,
    'egress.allow': egress.allow.join('\n'),
    expected_revision: String(revision),
  };
}

function toRules(typed: Typed): Record<string, unknown> {
  const lines = (text: string) => text.split(/\s+/).filter(Boolean);
  const ids = (text: string) => (text.trim() === '' ? null : text.trim() === 'none' ? [] : lines(text));
  return {
    team_ids: ids(typed.team_ids),
    environment_ids: ids(typed.environment_ids),
    isolation: typed.isolation === '' ? null : typed.isolation,
    egress: { policy: typed['egress.policy'], allow: lines(typed['egress.allow']) },
  };
}

export async function submitPool(visit: PoolVisit): Promise<FastifyReply> {
  const typed = visit.form(...names);
  const body = { ...toRules(typed), expected_revision: Number(typed.expected_revision) };
  const result = await submit(visit, names, () => visit.run(update, { params: visit.params, body }));
  if (!result.done) return show(visit, typed, result.problems);
  return visit.redirect(pagePath(pages.workers, {}, { done: 'pool-saved' }));
}

export async function showNewPool(visit: Visit): Promise<FastifyReply> {
  return showNew(visit, { 'egress.policy': 'internet' }, null);
}

async function showNew(
  visit: Visit,
  typed: Record<string, string>,
  problems: FormProblems | null,
): Promise<FastifyReply> {
  const title = 'New pool';
  const page = {
    title,
    hasProblem: problems !== null,
    main: html`<div class="page page-narrow">${renderPageHead({ title, crumbs, below: 'Workers serve a pool by its name, in WORKER_POOLS.' })}
<div class="panel">${renderForm({
      action: pagePath(pages.newWorkerPool),
      fields: [
        { name: 'name', label: 'Name', maxLength: 63 },
        ...ruleFields.filter(({ name }) => name !== 'expected_revision'),
      ],
      typed,
      submit: 'Create the pool',
      cancel: pagePath(pages.workers),
      problems,
    })}</div></div>`,
  };
  return visit.show(page, problems?.status ?? 200);
}

export async function submitNewPool(visit: Visit): Promise<FastifyReply> {
  const typed = visit.form(...names);
  const result = await submit(visit, names, () =>
    visit.run(create, { body: { name: typed.name.trim(), ...toRules(typed) } }),
  );
  if (!result.done) return showNew(visit, typed, result.problems);
  return visit.redirect(pagePath(pages.workers, {}, { done: 'pool-created' }));
}

export async function confirmPoolDeletion(visit: PoolVisit): Promise<FastifyReply> {
  return ask(visit, null);
}

async function ask(visit: PoolVisit, problems: FormProblems | null): Promise<FastifyReply> {
  const page = confirmationPage({
    title: `Delete the pool ${visit.params.name}`,
    crumbs,
    consequences: 'Its rules go. It must be one that no run, no template version and no worker needs.',
    verb: 'Delete',
    fields: [],
    action: pagePath(pages.deleteWorkerPool, visit.params),
    cancel: pagePath(pages.workerPool, visit.params),
    problems,
  });
  return visit.show(page, problems?.status ?? 200);
}

export async function submitPoolDeletion(visit: PoolVisit): Promise<FastifyReply> {
  visit.form();
  const result = await submit(visit, [], () => visit.run(deleteWorkerPool, { params: visit.params }));
  if (!result.done) return ask(visit, result.problems);
  return visit.redirect(pagePath(pages.workers, {}, { done: 'pool-deleted' }));
}

import type { FastifyReply } from 'fastify';
import { renderFacts } from '#api/web/components/facts.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderTime } from '#api/web/components/time.ts';
import { confirmationPage } from '#api/web/forms/confirmation.ts';
import { type FormProblems, submit } from '#api/web/forms/problems.ts';
import { html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { rolePermissions } from '#domain/shared/access/permissions.ts';
import { drain, get } from '../operations.ts';
import { renderIsolation, renderUse, renderWorkerStatus } from './workers.ts';

type WorkerVisit = Visit<{ id: string }>;
const crumbs = [{ label: 'Workers', path: pagePath(pages.workers) }];

/** Shows a worker: what it is, what it can do, and how busy it is. */
export async function showWorker(visit: WorkerVisit): Promise<FastifyReply> {
  const worker = await visit.read(get, { params: visit.params });
  const title = `${worker.host} · ${worker.process_id}`;
  const { role } = visit.principal;
  const mayDrain = role !== null && rolePermissions[role].has('worker:manage') && worker.status === 'active';
  return visit.show({
    title,
    main: html`<div class="page">
${renderPageHead({
  title,
  crumbs,
  beside: renderWorkerStatus(worker),
  actions: mayDrain
    ? html`<div class="actions"><a class="button button-plain" href="${pagePath(pages.drainWorker, visit.params)}">Drain</a></div>`
    : null,
})}
<div class="panel">${renderFacts(
      [
        ['Slots in use', renderUse(worker.executing, worker.concurrency)],
        [
          'Pools',
          html`${worker.pools.map((name, index) => html`${index > 0 ? ', ' : ''}<a class="foreign" href="${pagePath(pages.workerPool, { name })}">${name}</a>`)}`,
        ],
        ['Tools', worker.tools.map(({ name, version }) => `${name} ${version}`).join(', ')],
        ['Isolation', renderIsolation(worker)],
        ['Why not contained', worker.isolation_reason],
        ['Limits', worker.limits === 'cgroup' ? 'control groups' : 'process limits'],
        ['Version', worker.version],
        ['Started', renderTime(worker.started_at)],
        ['Last heartbeat', renderTime(worker.heartbeat_at)],
        ['Id', html`<code>${worker.id}</code>`],
      ],
      { isWide: true },
    )}</div>
</div>`,
  });
}

export async function confirmDraining(visit: WorkerVisit): Promise<FastifyReply> {
  return ask(visit, null);
}

async function ask(visit: WorkerVisit, problems: FormProblems | null): Promise<FastifyReply> {
  const worker = await visit.read(get, { params: visit.params });
  const page = confirmationPage({
    title: `Drain ${worker.host} · ${worker.process_id}`,
    crumbs,
    consequences:
      'It finishes what it executes and takes nothing new, until it is restarted. Runs that wait go to other workers of its pools.',
    verb: 'Drain',
    fields: [],
    hasKey: true,
    action: pagePath(pages.drainWorker, visit.params),
    cancel: pagePath(pages.worker, visit.params),
    problems,
  });
  return visit.show(page, problems?.status ?? 200);
}

export async function submitDraining(visit: WorkerVisit): Promise<FastifyReply> {
  const { key } = visit.form('key');
  const result = await submit(visit, [], () => visit.run(drain, { params: visit.params, key }));
  if (!result.done) return ask(visit, result.problems);
  return visit.redirect(pagePath(pages.workers, {}, { done: 'draining' }));
}

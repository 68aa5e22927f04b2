import type { FastifyReply } from 'fastify';
import type { z } from 'zod';
import { renderActions } from '#api/web/components/actions.ts';
import { renderFacts } from '#api/web/components/facts.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderEmpty, renderTable } from '#api/web/components/table.ts';
import { renderTime } from '#api/web/components/time.ts';
import { page } from '#api/web/declarations/area.ts';
import { formPage } from '#api/web/forms/form-page.ts';
import { refusalOf } from '#api/web/forms/resource-forms.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { drain, get } from '../operations.ts';
import type { WorkerView } from '../views.ts';
import { workersCrumb } from './labels.ts';
import { renderIsolation, renderUse, renderWorkerStatus } from './workers.ts';

type WorkerVisit = Visit<{ id: string }>;

/** Shows a worker: what it is, what it can do, and how busy it is. */
async function showWorker(visit: WorkerVisit): Promise<FastifyReply> {
  const worker = await visit.read(get, { params: visit.params });
  const title = `${worker.host} · ${worker.process_id}`;
  return visit.show({
    title,
    main: html`<div class="page page-wide">
${renderPageHead({
  title,
  crumbs: [workersCrumb],
  beside: renderWorkerStatus(worker),
  actions: renderActions(worker.actions, {
    drain: { label: 'Drain', icon: 'circle-stop', path: pagePath(pages.drainWorker, visit.params) },
  }),
  history: ['workers', worker.id],
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
        ['Why there is no sandbox', worker.isolation_reason],
        ['Limits', worker.limits === 'cgroup' ? 'control groups' : 'process limits'],
        ['Version', worker.version],
        ['Started', renderTime(worker.started_at)],
        ['Last heartbeat', renderTime(worker.heartbeat_at)],
        ['Id', html`<code>${worker.id}</code>`],
      ],
      { isWide: true },
    )}</div>
<section class="stack" aria-labelledby="executing"><h2 id="executing">Running</h2>
<div class="list-panel">${renderExecuting(worker)}</div></section>
</div>`,
  });
}

/** The runs that the worker executes. Those that the visitor may not read are only counted. */
function renderExecuting({ runs, executing }: z.input<typeof WorkerView>): Html {
  if (executing === 0) return renderEmpty('Nothing', 'It is waiting for work.');
  const hidden = executing - runs.length;
  return html`${
    runs.length > 0
      ? renderTable({
          caption: 'Running runs',
          rows: runs,
          columns: [
            {
              label: 'Instance',
              kind: 'main',
              cell: ({ id, instance }) =>
                html`<a class="foreign" href="${pagePath(pages.run, { id })}">${instance}</a>`,
            },
            { label: 'Phase', cell: ({ phase }) => phase },
          ],
        })
      : null
  }${hidden > 0 ? html`<p class="empty-line muted">${hidden} of other teams</p>` : null}`;
}

/** The page of a worker, and the form that drains it. */
export const workerPages = [
  page('GET', pages.worker, showWorker),
  formPage(pages.drainWorker, {
    read: (visit) => visit.read(get, { params: visit.params }),
    describe: ({ id, host, process_id: processId, actions }) => ({
      title: `Drain ${host} · ${processId}`,
      crumbs: [workersCrumb, { label: `${host} · ${processId}`, path: pagePath(pages.worker, { id }) }],
      lead: 'It finishes its runs and takes no new ones until it is restarted. Waiting runs go to other workers of its pools.',
      fields: [],
      submit: 'Drain',
      tone: 'danger',
      cancel: pagePath(pages.worker, { id }),
      refusal: refusalOf(actions, 'drain'),
    }),
    carryOut: async ({ id }, _typed, visit) => {
      await visit.run(drain, { params: { id } });
      return pagePath(pages.workers, {}, { done: 'draining' });
    },
  }),
];

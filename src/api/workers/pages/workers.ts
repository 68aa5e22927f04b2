import type { FastifyReply } from 'fastify';
import type { z } from 'zod';
import { get as getPause, set as setPause } from '#api/holds/apply-pause-operations.ts';
import { renderAction } from '#api/web/components/actions.ts';
import { renderConfirmation } from '#api/web/components/confirmation.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderStatusBadge } from '#api/web/components/status.ts';
import { renderEmpty, renderPages, renderTable } from '#api/web/components/table.ts';
import { renderAge, renderSince } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages, type Query } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { list } from '../operations.ts';
import { create as createPool, list as listPools } from '../pool-operations.ts';
import type { ListedPoolView, ListedWorkerView } from '../views.ts';

export type Worker = z.input<typeof ListedWorkerView>;
export type Pool = z.input<typeof ListedPoolView>;

/** Shows the workers by pool, and the runs that wait for them. */
export async function showWorkers(visit: Visit): Promise<FastifyReply> {
  const [pool, cursor, poolCursor] = ['pool', 'cursor', 'pool_cursor'].map((name) => visit.query(name));
  const mayReadPause = visit.mayDo(getPause).allowed;
  const [{ workers, next_cursor: next }, { worker_pools: listed, next_cursor: nextPools }, pause] = await Promise.all([
    visit.read(list, { query: { pool, cursor } }),
    visit.read(listPools, { query: { cursor: poolCursor } }),
    mayReadPause ? visit.read(getPause) : null,
  ]);
  const link = (query: Query) => pagePath(pages.workers, {}, { pool, pool_cursor: poolCursor, ...query });
  const poolLink = (query: Query) => pagePath(pages.workers, {}, { pool, ...query });
  return visit.show({
    title: 'Workers',
    main: html`<div class="page page-wide">
${renderPageHead({
  title: 'Workers',
  below: 'Workers plan and apply. A run waits in the queue of its pool until a worker has a free slot.',
  actions: html`<div class="actions">${renderAction(visit.mayDo(createPool), { label: 'New pool', icon: 'plus', path: pagePath(pages.newWorkerPool) })}${pause && renderPauseButton(visit, pause.pause !== null)}</div>`,
})}
${renderConfirmation(visit, pages.workers)}
<section class="stack" aria-labelledby="pools"><h2 id="pools">Pools</h2>
<div class="list-panel">${listed.length > 0 ? renderPools(listed) : renderEmpty('No pools yet', 'A pool appears when a worker starts to serve it.')}</div>
${renderPages({ cursor: poolCursor, next: nextPools }, poolLink, 'pool_cursor')}</section>
<section class="stack" aria-labelledby="workers"><h2 id="workers">${pool ? html`Workers of ${pool}` : 'Workers'}</h2>
${pool ? html`<p><a href="${pagePath(pages.workers)}">Show all</a></p>` : null}
<div class="list-panel">${
      workers.length > 0
        ? renderWorkers(workers)
        : renderEmpty('No workers yet', 'Start one with npm run worker. Until then, runs wait.')
    }</div>
${renderPages({ cursor, next }, link)}</section>
</div>`,
  });
}

/** The button of the pause. Only visitors who may read the pause see it. */
function renderPauseButton(visit: Visit, isPaused: boolean): Html {
  const label = isPaused ? 'All applies are paused' : 'Pause all applies';
  return renderAction(visit.mayDo(setPause), { label, tone: 'danger', path: pagePath(pages.pauseApplies) });
}

export function renderWorkerStatus({ status, heartbeat_at: at }: Worker): Html {
  const looks = {
    active: { word: 'Active', icon: 'circle-check', tone: 'succeeded' },
    draining: { word: 'Draining', icon: 'circle-stop', tone: 'canceling' },
    gone: { word: 'Gone', icon: 'ban', tone: 'canceled' },
  } as const;
  return html`${renderStatusBadge(looks[status])}${status === 'gone' ? html` <span class="muted">${renderSince(at)}</span>` : null}`;
}

/** The used part of a total, as text and as a bar. */
export function renderUse(used: number, all: number): Html {
  return html`<span class="use">${used} of ${all} <meter class="meter" min="0" max="${Math.max(all, 1)}" value="${used}" aria-hidden="true"></meter></span>`;
}

function renderPools(pools: readonly Pool[]): Html {
  return renderTable<Pool>({
    caption: 'Pools',
    rows: pools,
    columns: [
      {
        label: 'Pool',
        kind: 'main',
        cell: ({ name }) => html`<a class="foreign" href="${pagePath(pages.workerPool, { name })}">${name}</a>`,
      },
      { label: 'Workers', kind: 'number', cell: ({ workers }) => String(workers) },
      { label: 'Slots in use', cell: ({ running, concurrency }) => renderUse(running, concurrency) },
      { label: 'Waiting', kind: 'number', cell: ({ queued }) => String(queued) },
      { label: 'Open to', cell: describeAudience },
      { label: 'Network access', cell: ({ egress }) => describeEgress(egress) },
      { label: 'Isolation', kind: 'minor', cell: ({ isolation }) => (isolation === null ? 'any' : 'sandbox only') },
    ],
  });
}

export function describeAudience({ team_ids: teams, environment_ids: environments }: Pool): string {
  if (teams === null && environments === null) return 'everybody';
  const parts = [
    ...(teams === null ? [] : [`${teams.length} ${teams.length === 1 ? 'team' : 'teams'}`]),
    ...(environments === null
      ? []
      : [`${environments.length} ${environments.length === 1 ? 'environment' : 'environments'}`]),
  ];
  return parts.join(' and ');
}

export function describeEgress({ policy, allow }: Pool['egress']): string {
  if (policy === 'none') return 'nothing';
  if (policy === 'allow') return `${allow.length} named ${allow.length === 1 ? 'place' : 'places'}`;
  return allow.length > 0 ? `the internet and ${allow.length} named` : 'the internet';
}

function renderWorkers(workers: readonly Worker[]): Html {
  return renderTable<Worker>({
    caption: 'Workers',
    rows: workers,
    rowId: ({ id }) => `w-${id}`,
    columns: [
      {
        label: 'Worker',
        kind: 'main',
        cell: ({ id, host, process_id: process }) =>
          html`<a class="foreign" href="${pagePath(pages.worker, { id })}">${host} · ${process}</a>`,
      },
      { label: 'State', cell: renderWorkerStatus },
      { label: 'Pools', cell: ({ pools }) => html`<span class="foreign">${pools.join(', ')}</span>` },
      { label: 'Slots in use', cell: ({ executing, concurrency }) => renderUse(executing, concurrency) },
      { label: 'Isolation', cell: renderIsolation },
      {
        label: 'Tools',
        kind: 'minor',
        cell: ({ tools }) =>
          html`<span class="foreign">${tools.map(({ name, version }) => `${name} ${version}`).join(', ')}</span>`,
      },
      { label: 'Version', kind: 'minor', cell: ({ version }) => version },
      { label: 'Started', kind: 'minor', cell: ({ started_at: at }) => renderAge(at) },
    ],
  });
}

export function renderIsolation({ isolation }: Worker): Html {
  return isolation === 'sandbox'
    ? html`<span>sandbox</span>`
    : renderStatusBadge({ word: 'none', icon: 'triangle-alert', tone: 'failed' });
}

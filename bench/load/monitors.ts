import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Installation } from '../installation/installation.ts';
import { runLoad } from './load.ts';
import { admitRun, waitForStatus } from './runs.ts';

const requestsAtOnce = 16;

/**
 * Makes this many deployed instances: a run deploys the first one, and the others are rows that name the same deployment. Scans of them are as real as
 * those of the first one, and it does not take an hour to deploy them.
 */
export async function deployInstances(
  { http, database }: Installation,
  { request, count }: { readonly request: object; readonly count: number },
): Promise<string[]> {
  const runId = await admitRun(http, request);
  await waitForStatus(http, runId, 'succeeded');
  const { instance_id: id } = await http.call('GET', `/runs/${runId}`);
  const ids = Array.from({ length: count - 1 }, () => randomUUID());
  await database.query(
    `insert into instances select (jsonb_populate_record(i, jsonb_build_object('id', n.id, 'name', 'copy-' || n.id))).*
       from instances i, unnest($2::uuid[]) n(id) where i.id = $1`,
    [id, ids],
  );
  return [id, ...ids];
}

export interface Creation {
  /** How many seconds the requests took, and how many it took until the engine had a schedule for each monitor. */
  readonly requests: number;
  readonly schedules: number;
  /** How many monitors were created per second among the first tenth, and among the last. */
  readonly firstRate: number;
  readonly lastRate: number;
}

/** Creates a monitor of each instance by a request, and waits until the engine has a schedule for each. */
export async function createMonitors(
  { http, database, temporal }: Installation,
  { instanceIds, every }: { readonly instanceIds: readonly string[]; readonly every: string },
): Promise<Creation> {
  const created: number[] = [];
  const startedAt = performance.now();
  const seconds = () => (performance.now() - startedAt) / 1000;
  await runLoad(instanceIds.length, requestsAtOnce, async (index) => {
    await http.call('POST', '/drift-monitors', { instance_id: instanceIds[index], schedule: { every } });
    created.push(seconds());
  });
  const requests = seconds();
  for (; ; await sleep(200)) {
    const { rows } = await database.query(`select 1 from outbox where target like 'drift_monitor/%' limit 1`);
    if (rows.length === 0) break;
  }
  const schedules = seconds();
  await awaitSchedules(temporal, instanceIds.length);
  const tenth = Math.floor(created.length / 10);
  const rateOf = (from: number, to: number) => (to - from) / ((created[to] ?? 0) - (created[from] ?? 0));
  const last = created.length - 1;
  return { requests, schedules, firstRate: rateOf(0, tenth), lastRate: rateOf(last - tenth, last) };
}

/** The list of the engine follows some seconds later. */
async function awaitSchedules(temporal: Installation['temporal'], count: number): Promise<void> {
  for (const deadline = Date.now() + 120_000; ; await sleep(2_000)) {
    let found = 0;
    for await (const _ of temporal.schedule.list({ pageSize: 1_000 })) found += 1;
    if (found >= count) return;
    if (Date.now() > deadline) throw new Error(`the engine has ${found} schedules for ${count} monitors`);
  }
}

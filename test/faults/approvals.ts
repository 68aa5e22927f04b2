import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Installation } from './harness/installation.ts';

const concurrency = 16;
/** The longest time without any progress. */
const stallLimitMs = 2 * 60_000;

export interface ApprovalsReport {
  readonly runs: number;
  readonly succeeded: number;
  /** The time from the last approval to the end of the last run. */
  readonly finishedAfterSeconds: number;
}

/** Lets many runs wait for approval, restarts every worker, the first one with SIGKILL, and approves all runs. */
export async function restartWithOpenApprovals(installation: Installation, count: number): Promise<ApprovalsReport> {
  const { requester, approver, workers, violations } = installation;
  const templateId = await publish(installation);
  const ids = await inParallel(Array.from({ length: count }), async () => {
    const instance = `i-${randomUUID()}`;
    const { id } = await requester.call('POST', '/runs', { template_id: templateId, instance });
    return String(id);
  });
  await waitForRuns(installation, `status = 'pending_approval'`, templateId, count);
  for (const [number, worker] of workers.entries()) {
    await worker.kill(number === 0 ? 'SIGKILL' : 'SIGTERM');
  }
  await Promise.all(workers.map((worker) => worker.start()));
  await inParallel(ids, async (id) => {
    const run = await approver.call('GET', `/runs/${id}`);
    const review = { decision: 'approve', plan_digest: run.plan.digest };
    await approver.call('POST', `/runs/${id}/approval/review`, review);
  });
  const approvedAt = Date.now();
  await waitForRuns(installation, `finished_at is not null`, templateId, count);
  const succeeded = await countRuns(installation, `status = 'succeeded'`, templateId);
  if (succeeded !== count) violations.push(`only ${succeeded} of ${count} approved runs succeeded`);
  return { runs: count, succeeded, finishedAfterSeconds: Math.round((Date.now() - approvedAt) / 1000) };
}

async function publish({ requester }: Installation): Promise<string> {
  const spec = {
    approval: { required: 1, when: 'always' },
    executor: { kind: 'command', apply: [{ name: 'act', run: ['true'] }] },
  };
  const slug = `waiting-${randomUUID()}`;
  const { id } = await requester.call('POST', '/registry/templates', { name: slug, slug });
  await requester.call('POST', `/registry/templates/${id}/versions`, { version: '1.0.0', spec });
  return id;
}

async function waitForRuns(
  installation: Installation,
  condition: string,
  templateId: string,
  count: number,
): Promise<void> {
  let reached = 0;
  for (let progressAt = Date.now(); reached < count; await sleep(500)) {
    const now = await countRuns(installation, condition, templateId);
    if (now > reached) progressAt = Date.now();
    reached = now;
    if (Date.now() - progressAt > stallLimitMs) {
      throw new Error(`only ${reached} of ${count} runs reached the condition: ${condition}`);
    }
  }
}

async function countRuns({ query }: Installation, condition: string, templateId: string): Promise<number> {
  const sql = `select count(*)::int as runs from runs where template_id = $1 and ${condition}`;
  const [row] = await query<{ runs: number }>(sql, [templateId]);
  return row?.runs ?? 0;
}

async function inParallel<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const waiting = [...items.entries()];
  const results: Result[] = [];
  const workSome = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) results[next[0]] = await work(next[1]);
  };
  await Promise.all(Array.from({ length: concurrency }, workSome));
  return results;
}

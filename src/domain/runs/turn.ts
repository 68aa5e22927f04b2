import { Instance, InstanceSlot } from '#domain/instances/entity.ts';
import { loadVersionById } from '#domain/registry/published.ts';
import type { Em } from '#domain/shared/database.ts';
import { findLiveWorkers } from '#domain/workers/service.ts';
import type { Run } from './entity.ts';
import { nextInLine } from './lifecycle.ts';
import type { WaitingCode } from './model.ts';

export type Turn =
  | { taken: true; stateSerial: number }
  | { taken: false; code: WaitingCode; position?: number; blocker?: string; retryAfterSeconds: number };

/** Whoever holds the instance wakes the next in line; looking again now and then is the backstop. */
const busyRetrySeconds = 300;
const noWorkerRetrySeconds = 5;

/**
 * Whether a queued run may begin: its pool has a worker, and, where it writes, the instance is free and it is next in
 * line. Taking the turn takes the instance's slot. The caller holds the instance's row.
 */
export async function takeTurn(em: Em, run: Run): Promise<Turn> {
  if (run.isWriter()) {
    const blocker = await findBlocker(em, run);
    if (blocker) return { taken: false, code: 'instance_busy', ...blocker, retryAfterSeconds: busyRetrySeconds };
  }
  const instance = await em.findOneOrFail(Instance, { id: run.instanceId });
  if (!(await hasWorker(em, run, instance)))
    return { taken: false, code: 'no_worker', retryAfterSeconds: noWorkerRetrySeconds };
  if (run.isWriter()) {
    em.persist(em.create(InstanceSlot, { instanceId: run.instanceId, runId: run.id, acquiredAt: new Date() }));
    await em.flush();
  }
  return { taken: true, stateSerial: instance.stateSerial };
}

/** Whether a worker of the pool lives that has the tool: any for a first run, and then the kind that wrote the state. */
async function hasWorker(em: Em, run: Run, instance: Instance): Promise<boolean> {
  const workers = await findLiveWorkers(em, run.pool);
  const { spec } = await loadVersionById(em, run.templateVersionId);
  if (spec.executor.kind === 'command') return workers.length > 0;
  return workers.some(({ tools }) => tools.some(({ name }) => !instance.tool || name === instance.tool));
}

/** The run that holds the instance, else the one that is ahead in line. */
async function findBlocker(em: Em, run: Run): Promise<{ blocker: string; position: number } | undefined> {
  const slot = await em.findOne(InstanceSlot, { instanceId: run.instanceId });
  const first = await nextInLine(em, run.instanceId);
  const blocker = slot?.runId ?? (first && first.id !== run.id ? first.id : undefined);
  if (blocker === undefined) return undefined;
  const rows = await em.execute<{ ahead: number }[]>(
    `select count(*)::int as ahead from runs
      where instance_id = ? and finished_at is null and operation <> 'plan' and instance_position < ?`,
    [run.instanceId, run.instancePosition],
  );
  return { blocker, position: rows[0]?.ahead ?? 0 };
}

import { Instance, InstanceSlot } from '#domain/instances/entity.ts';
import type { Em } from '#domain/shared/database.ts';
import { chooseQueue, noWorkerRetrySeconds } from './dispatch.ts';
import type { Run } from './entity.ts';
import type { WaitingCode } from './model.ts';
import { nextInLine } from './transitions.ts';

export type Turn =
  | { taken: true; stateSerial: number; taskQueue: string }
  | { taken: false; code: WaitingCode; position?: number; blocker?: string; retryAfterSeconds: number };

/** Whoever holds the instance wakes the next in line; looking again now and then is the backstop. */
const busyRetrySeconds = 300;

/**
 * Whether a queued run may begin: its pool has a worker that may execute it, and, where it writes, the instance is free and it is next in
 * line. Taking the turn takes the instance's slot. The caller holds the instance's row.
 */
export async function takeTurn(em: Em, run: Run): Promise<Turn> {
  if (run.isWriter()) {
    const blocker = await findBlocker(em, run);
    if (blocker) return { taken: false, code: 'instance_busy', ...blocker, retryAfterSeconds: busyRetrySeconds };
  }
  const instance = await em.findOneOrFail(Instance, { id: run.instanceId });
  const taskQueue = await chooseQueue(em, run);
  if (taskQueue === null) return { taken: false, code: 'no_worker', retryAfterSeconds: noWorkerRetrySeconds };
  if (run.isWriter()) {
    em.persist(em.create(InstanceSlot, { instanceId: run.instanceId, runId: run.id, acquiredAt: new Date() }));
    await em.flush();
  }
  return { taken: true, stateSerial: instance.stateSerial, taskQueue };
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

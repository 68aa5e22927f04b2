import type { Em } from '#database/database.ts';
import { Run } from './entity.ts';
import { lockRunInOrder } from './steps/transitions.ts';
import { findRun, type RunTarget } from './store.ts';

/** A run and its owner, unless the run was deleted. */
export async function findUndeletedRun(em: Em, id: string): Promise<RunTarget | undefined> {
  const target = await findRun(em, id);
  return target?.isDeleted ? undefined : target;
}

/** A run and its owner for a command. The row of the run is locked, after that of its instance, before the owner is read. */
export async function findRunToChange(
  em: Em,
  id: string,
  lock: boolean,
): Promise<(RunTarget & { run: Run }) | undefined> {
  const run = lock ? await lockRunInOrder(em, id) : await em.findOne(Run, { id });
  const target = run && (await findRun(em, id));
  return target ? { ...target, run } : undefined;
}

/** `findRunToChange`, unless the run was deleted. */
export async function findUndeletedRunToChange(
  em: Em,
  id: string,
  lock: boolean,
): Promise<(RunTarget & { run: Run }) | undefined> {
  const target = await findRunToChange(em, id, lock);
  return target?.run.deletedAt ? undefined : target;
}

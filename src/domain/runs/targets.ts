import type { Em } from '#database/database.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import { Run } from './entity.ts';
import { lockRunInOrder } from './steps/transitions.ts';

export interface RunTarget extends Ownership {
  readonly id: string;
  readonly isDeleted: boolean;
}

/** A run and its owner. A deleted run keeps its lineage, and so can still be read. */
export async function findRun(em: Em, id: string): Promise<RunTarget | undefined> {
  const rows = await em.execute<
    { id: string; team_id: string | null; organization_id: string | null; is_deleted: boolean }[]
  >(
    `select r.id, r.team_id, t.organization_id, r.deleted_at is not null as is_deleted from runs r left join teams t on t.id = r.team_id where r.id = ?`,
    [id],
  );
  const [row] = rows;
  return row && { id: row.id, teamId: row.team_id, organizationId: row.organization_id, isDeleted: row.is_deleted };
}

/** The same, where it has not been deleted. */
export async function findUndeletedRun(em: Em, id: string): Promise<RunTarget | undefined> {
  const target = await findRun(em, id);
  return target?.isDeleted ? undefined : target;
}

/** The same for a command: the run's row is locked, after its instance's, before its owner is read. */
export async function findRunToChange(
  em: Em,
  id: string,
  lock: boolean,
): Promise<(RunTarget & { run: Run }) | undefined> {
  const run = lock ? await lockRunInOrder(em, id) : await em.findOne(Run, { id });
  const target = run && (await findRun(em, id));
  return target ? { ...target, run } : undefined;
}

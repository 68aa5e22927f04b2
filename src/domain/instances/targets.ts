import type { Em } from '#database/database.ts';
import { findEnvironment } from '#domain/environments/store.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import { findTeamById } from '#domain/teams/store.ts';
import type { Archivable } from '#domain/tenancy/archiving.ts';

export interface InstanceTarget extends Ownership {
  readonly id: string;
}

/** An instance and who owns it; its row is locked for a command. */
export async function findInstance(em: Em, id: string, lock = false): Promise<InstanceTarget | undefined> {
  if (lock) await em.execute(`select 1 from instances where id = ? for update`, [id]);
  const rows = await em.execute<{ id: string; team_id: string | null; organization_id: string | null }[]>(
    `select i.id, i.team_id, t.organization_id from instances i left join teams t on t.id = i.team_id where i.id = ?`,
    [id],
  );
  const [row] = rows;
  return row && { id: row.id, teamId: row.team_id, organizationId: row.organization_id };
}

/**
 * The same for putting something into it: what owns it is shared before its row is locked, so that it is neither archived
 * nor deleted meanwhile. Undefined also where its owner is gone.
 */
export async function findInstanceToFill(
  em: Em,
  id: string,
  lock = false,
): Promise<(InstanceTarget & Archivable) | undefined> {
  const rows = await em.execute<{ team_id: string | null; environment_id: string | null }[]>(
    `select team_id, environment_id from instances where id = ?`,
    [id],
  );
  const [row] = rows;
  if (!row) return undefined;
  const owner = await findOwner(em, row, lock);
  const instance = owner && (await findInstance(em, id, lock));
  return instance && { ...instance, archived: owner.archived };
}

async function findOwner(
  em: Em,
  { team_id: teamId, environment_id: environmentId }: { team_id: string | null; environment_id: string | null },
  lock: boolean,
): Promise<Archivable | undefined> {
  if (environmentId) return findEnvironment(em, environmentId, lock);
  return teamId ? findTeamById(em, teamId, lock) : { archived: [] };
}

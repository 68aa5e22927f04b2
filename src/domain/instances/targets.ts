import type { Ownership } from '#domain/shared/access/decide.ts';
import type { Em } from '#domain/shared/database.ts';

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

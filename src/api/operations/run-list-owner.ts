import { nobody, type Ownership } from '#domain/shared/access/decide.ts';
import type { Em } from '#domain/shared/database.ts';

interface Filter {
  team_id?: string | undefined;
  environment_id?: string | undefined;
  instance_id?: string | undefined;
}

/**
 * Who owns what a list of runs is filtered by: one team, whichever filters imply it; nobody where there is no such filter.
 * Undefined where a filter names nothing, or two of them different teams' things.
 */
export async function findRunListOwner(em: Em, filter: Filter): Promise<Ownership | undefined> {
  const owners = await Promise.all([
    filter.team_id &&
      findOwner(em, `select id as team_id from teams where id = ? and deleted_at is null`, filter.team_id),
    filter.environment_id &&
      findOwner(
        em,
        `select p.team_id from environments e join projects p on p.id = e.project_id where e.id = ?`,
        filter.environment_id,
      ),
    filter.instance_id && findOwner(em, `select team_id from instances where id = ?`, filter.instance_id),
  ]);
  const named = owners.filter((owner) => owner !== undefined && owner !== '');
  if (named.length === 0) return nobody;
  const [first] = named;
  if (!first || named.some((owner) => !owner || owner.teamId !== first.teamId)) return undefined;
  return first;
}

async function findOwner(em: Em, teamQuery: string, id: string): Promise<Ownership | null> {
  const rows = await em.execute<{ team_id: string | null; organization_id: string | null }[]>(
    `select found.team_id, t.organization_id from (${teamQuery}) found left join teams t on t.id = found.team_id`,
    [id],
  );
  const [row] = rows;
  return row ? { teamId: row.team_id, organizationId: row.organization_id } : null;
}

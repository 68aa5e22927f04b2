import type { Em } from '#database/database.ts';
import type { Kind } from '#domain/ownership.ts';
import type { Ownership } from '../access/decide.ts';
import { declarationOf, ownerColumn, pathTo } from './graph.ts';

/**
 * Who owns a thing: its team, and the organization of that. What was deleted still shows to whoever could read it, but a
 * team itself only until it is deleted. Undefined where there is no such thing.
 */
export async function findOwningTeam(em: Em, kind: Kind, id: string): Promise<Ownership | undefined> {
  const rows = await em.execute<Ownership[]>(
    `select found.team_id as "teamId", t.${ownerColumn('team', 'organization')} as "organizationId"
       from (${selectTeam(kind)}) found left join ${declarationOf('team').table} t on t.id = found.team_id`,
    [id],
  );
  return rows[0];
}

/** Selects the id of the team that a thing is below. */
function selectTeam(kind: Kind): string {
  const { table } = declarationOf(kind);
  if (kind === 'team') return `select x.id as team_id from ${table} x where x.id = ? and x.deleted_at is null`;
  const path = pathTo(kind, 'team');
  if (!path) throw new Error(`nothing of the kind "${kind}" belongs to a team`);
  let [column, joins] = ['x.id', ''];
  for (const [index, link] of path.entries()) {
    const alias = index === 0 ? 'x' : `n${index}`;
    if (index > 0)
      joins += ` join ${declarationOf(path[index - 1]?.kind ?? '').table} ${alias} on ${alias}.id = ${column}`;
    column = `${alias}.${link.columns[0]}`;
  }
  return `select ${column} as team_id from ${table} x${joins} where x.id = ?`;
}

import { type Expression, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import type { Kind } from '#domain/ownership.ts';
import type { Ownership } from '../access/decide.ts';
import { declaredTables } from './conditions.ts';
import { declarationOf, ownerColumn, pathTo } from './graph.ts';

/**
 * The team that owns a thing, and its organization. A deleted thing still shows to those who could read it; a deleted team does
 * not. Undefined if there is no such thing.
 */
export async function findOwningTeam(em: Em, kind: Kind, id: string): Promise<Ownership | undefined> {
  const found = sql<{ team_id: string | null }>`${selectTeam(em, kind, id)}`.as('found');
  return declaredTables(em)
    .selectFrom(found)
    .leftJoin(`${declarationOf('team').table} as t`, 't.id', 'found.team_id')
    .select(['found.team_id as teamId', `t.${ownerColumn('team', 'organization')} as organizationId`])
    .$castTo<Ownership>()
    .executeTakeFirst();
}

/** Selects the id of the team that a thing is below, as `team_id`. */
function selectTeam(em: Em, kind: Kind, id: string): Expression<unknown> {
  const { table } = declarationOf(kind);
  const thing = declaredTables(em).selectFrom(`${table} as x`).where('x.id', '=', id);
  if (kind === 'team') return thing.where('x.deleted_at', 'is', null).select('x.id as team_id');
  const path = pathTo(kind, 'team');
  if (!path) throw new Error(`nothing of the kind "${kind}" belongs to a team`);
  let joined = thing;
  let column = 'x.id';
  for (const [index, link] of path.entries()) {
    const alias = index === 0 ? 'x' : `n${index}`;
    if (index > 0)
      joined = joined.innerJoin(
        `${declarationOf(path[index - 1]?.kind ?? '').table} as ${alias}`,
        `${alias}.id`,
        column,
      );
    column = `${alias}.${link.columns[0]}`;
  }
  return joined.select(`${column} as team_id`);
}

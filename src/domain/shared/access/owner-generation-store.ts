import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { Ownership } from './decide.ts';

/**
 * A text that changes when the team that owns something, or its organization, is archived, transferred or deleted, so that earlier grants
 * no longer count. Null if no team owns it.
 */
export async function readOwnerGeneration(em: Em, { teamId }: Ownership): Promise<string | null> {
  if (teamId === null) return null;
  const row = await db(em)
    .selectFrom('teams as t')
    .innerJoin('organizations as o', 'o.id', 't.organizationId')
    .where('t.id', '=', teamId)
    .select((eb) =>
      sql<string>`concat_ws(' ', ${eb.ref('o.id')}, ${eb.ref('o.eligibilityGeneration')}, ${eb.ref('t.eligibilityGeneration')})`.as(
        'generation',
      ),
    )
    .executeTakeFirst();
  return row?.generation ?? null;
}

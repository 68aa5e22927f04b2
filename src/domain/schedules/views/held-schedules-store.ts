import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { isInReadableTeam } from '#domain/shared/access/readable-teams-store.ts';

/** The sources of the authority of schedules: the user or service account that saved them, or its session or API key. */
export type Holder = keyof typeof columnOf;

const columnOf = { authority_id: 's.authorityId', credential_id: 's.credentialId' } as const;

/** For each id, the number of schedules with its authority that the principal may read. Ids without schedules are left out. */
export async function countHeldSchedules(
  em: Em,
  principal: Principal,
  holder: Holder,
  ids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (ids.length === 0) return new Map();
  const rows = await db(em)
    .selectFrom('schedules as s')
    .innerJoin('teams as t', 't.id', 's.teamId')
    .innerJoin('organizations as o', 'o.id', 't.organizationId')
    .where('t.deletedAt', 'is', null)
    .where('o.deletedAt', 'is', null)
    .where(columnOf[holder], '=', (eb) => eb.fn.any(eb.val(ids)))
    .where((eb) => isInReadableTeam(principal, eb.ref('s.teamId'), 'hidden'))
    .groupBy(columnOf[holder])
    .select((eb) => [`${columnOf[holder]} as id`, eb.fn.countAll<string>().as('count')])
    .execute();
  return new Map(rows.map(({ id, count }) => [id ?? '', Number(count)]));
}

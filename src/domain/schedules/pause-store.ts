import type { Em } from '#database/database.ts';
import { db, type Over } from '#domain/db.ts';
import { lostAuthorities, selectLostAuthority } from '#domain/identity/stored-authority.ts';
import type { PauseReason } from './model.ts';

/** Whether a transfer has given the schedule `s` of the team `t` other owners than when it was saved. Then it starts nothing. */
export function isElsewhereRow(eb: Over<{ s: 'schedules'; t: 'teams' }>) {
  return eb.or([
    eb('s.voidSince', 'is not', null),
    eb('s.savedForTeamId', '<>', eb.ref('s.teamId')),
    eb('s.savedForOrganizationId', '<>', eb.ref('t.organizationId')),
  ]);
}

/** Why the schedule `s` of the team `t` is paused although nobody paused it; null if it can start its work. */
export function selectPauseReason(eb: Over<{ s: 'schedules'; t: 'teams' }>) {
  const lost = selectLostAuthority(
    { authorityId: eb.ref('s.authorityId'), credentialId: eb.ref('s.credentialId') },
    lostAuthorities,
  );
  return eb.case().when(isElsewhereRow(eb)).then<PauseReason | null>('owner_changed').else(lost).end();
}

/** The pause reason of one schedule. */
export async function findPauseReason(em: Em, id: string): Promise<PauseReason | null> {
  const row = await db(em)
    .selectFrom('schedules as s')
    .innerJoin('teams as t', 't.id', 's.teamId')
    .where('s.id', '=', id)
    .select((eb) => selectPauseReason(eb).as('reason'))
    .executeTakeFirst();
  return row?.reason ?? null;
}

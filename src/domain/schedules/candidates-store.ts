import { db } from '#domain/db.ts';
import { isInReadableTeam } from '#domain/shared/access/readable-teams-store.ts';
import { type Candidates, mayRead, noId, nothing } from '#domain/shared/naming/candidates.ts';

/** The schedules that a search finds by their names. */
export const scheduleCandidates: Candidates = (em, principal) =>
  db(em)
    .selectFrom('schedules as s')
    .innerJoin('teams as t', 't.id', 's.teamId')
    .where('t.deletedAt', 'is', null)
    .where((eb) =>
      eb.and([mayRead(principal, 'environment:read'), isInReadableTeam(principal, eb.ref('s.teamId'), 'hidden')]),
    )
    .select(['s.id', 's.name', nothing.as('otherName'), 't.name as context', noId.as('parentId')])
    .as('x');

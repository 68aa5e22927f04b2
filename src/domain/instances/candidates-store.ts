import { db } from '#domain/db.ts';
import { isInReadableTeam } from '#domain/shared/access/readable-teams-store.ts';
import { type Candidates, noId, nothing } from '#domain/shared/naming/candidates.ts';

/** The instances that a search finds by their names. */
export const instanceCandidates: Candidates = (em, principal) =>
  db(em)
    .selectFrom('instances as i')
    .leftJoin('environments as e', 'e.id', 'i.environmentId')
    .where('i.deletedAt', 'is', null)
    .where((eb) => isInReadableTeam(principal, eb.ref('i.teamId'), 'visible'))
    .select(['i.id', 'i.name', nothing.as('otherName'), 'e.name as context', noId.as('parentId')])
    .as('x');

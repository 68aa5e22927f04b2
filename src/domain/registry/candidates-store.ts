import { db } from '#domain/db.ts';
import { isInReadableTeam } from '#domain/shared/access/readable-teams-store.ts';
import { type Candidates, noId } from '#domain/shared/naming/candidates.ts';

/** The templates that a search finds by their names. */
export const templateCandidates: Candidates = (em, principal) =>
  db(em)
    .selectFrom('templates as m')
    .leftJoin('teams as t', 't.id', 'm.teamId')
    .where('m.deletedAt', 'is', null)
    .where((eb) => isInReadableTeam(principal, eb.ref('m.teamId'), 'visible'))
    .select(['m.id', 'm.name', 'm.slug as otherName', 't.name as context', noId.as('parentId')])
    .as('x');

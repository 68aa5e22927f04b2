import { db } from '#domain/db.ts';
import { isInReadableTeam } from '#domain/shared/access/readable-teams-store.ts';
import { type Candidates, noId } from '#domain/shared/naming/candidates.ts';

/** The projects that a search finds by their names. */
export const projectCandidates: Candidates = (em, principal) =>
  db(em)
    .selectFrom('projects as p')
    .innerJoin('teams as t', 't.id', 'p.teamId')
    .where('p.deletedAt', 'is', null)
    .where((eb) => isInReadableTeam(principal, eb.ref('p.teamId'), 'hidden'))
    .select(['p.id', 'p.name', 'p.slug as otherName', 't.name as context', noId.as('parentId')])
    .as('x');

import { db } from '#domain/db.ts';
import { isInReadableTeam } from '#domain/shared/access/readable-teams-store.ts';
import { type Candidates, noId } from '#domain/shared/naming/candidates.ts';

/** The environments that a search finds by their names. */
export const environmentCandidates: Candidates = (em, principal) =>
  db(em)
    .selectFrom('environments as e')
    .innerJoin('projects as p', 'p.id', 'e.projectId')
    .where('e.deletedAt', 'is', null)
    .where((eb) => isInReadableTeam(principal, eb.ref('p.teamId'), 'hidden'))
    .select(['e.id', 'e.name', 'e.slug as otherName', 'p.name as context', noId.as('parentId')])
    .as('x');

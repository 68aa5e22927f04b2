import { db } from '#domain/db.ts';
import { isInReadableTeam } from '#domain/shared/access/readable-teams-store.ts';
import { type Candidates, noId } from '#domain/shared/naming/candidates.ts';

/** The assemblies that a search finds by their names. */
export const assemblyCandidates: Candidates = (em, principal) =>
  db(em)
    .selectFrom('assemblies as a')
    .innerJoin('teams as t', 't.id', 'a.teamId')
    .where('a.deletedAt', 'is', null)
    .where((eb) => isInReadableTeam(principal, eb.ref('a.teamId'), 'hidden'))
    .select(['a.id', 'a.name', 'a.slug as otherName', 't.name as context', noId.as('parentId')])
    .as('x');

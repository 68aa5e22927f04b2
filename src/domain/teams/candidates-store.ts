import { db } from '#domain/db.ts';
import { isInReadableTeam } from '#domain/shared/access/readable-teams-store.ts';
import type { Candidates } from '#domain/shared/naming/candidates.ts';

/** The teams that a search finds by their names. */
export const teamCandidates: Candidates = (em, principal) =>
  db(em)
    .selectFrom('teams as t')
    .innerJoin('organizations as o', 'o.id', 't.organizationId')
    .where('t.deletedAt', 'is', null)
    .where((eb) => isInReadableTeam(principal, eb.ref('t.id'), 'hidden'))
    .select(['t.id', 't.name', 't.slug as otherName', 'o.name as context', 't.organizationId as parentId'])
    .as('x');

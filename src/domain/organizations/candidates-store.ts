import { db } from '#domain/db.ts';
import { isPlatformAdministrator } from '#domain/shared/access/decide.ts';
import { type Candidates, noId, nothing } from '#domain/shared/naming/candidates.ts';

/** The organizations that a search finds by their names. */
export const organizationCandidates: Candidates = (em, principal) =>
  db(em)
    .selectFrom('organizations as o')
    .where('o.deletedAt', 'is', null)
    .where((eb) =>
      isPlatformAdministrator(principal)
        ? eb.lit(true)
        : eb('o.id', '=', eb.fn.any(eb.val(Object.keys(principal.organizations)))),
    )
    .select(['o.id', 'o.name', 'o.slug as otherName', nothing.as('context'), noId.as('parentId')])
    .as('x');

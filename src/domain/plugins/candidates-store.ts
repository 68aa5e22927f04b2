import { db } from '#domain/db.ts';
import { isOfReadableOwner } from '#domain/owners/rows-store.ts';
import { decidePermission } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { isInReadableTeam } from '#domain/shared/access/readable-teams-store.ts';
import { type Candidates, noId, nothing } from '#domain/shared/naming/candidates.ts';
import { pluginReading } from './authority.ts';

/** The installed plugins that a search finds by their names. */
export const pluginInstallationCandidates: Candidates = (em, principal) =>
  db(em)
    .selectFrom('plugin_installations as i')
    .leftJoin('teams as t', 't.id', 'i.teamId')
    .innerJoin('organizations as o', (join) =>
      join.on((eb) => eb('o.id', '=', eb.fn.coalesce('i.organizationId', 't.organizationId'))),
    )
    .where('i.deletedAt', 'is', null)
    .where('t.deletedAt', 'is', null)
    .where('o.deletedAt', 'is', null)
    .where((eb) => {
      const owner = { organization: eb.ref('i.organizationId'), team: eb.ref('i.teamId'), project: noId };
      return eb.and([eb.lit(mayReadPlugins(principal)), isOfReadableOwner(principal, owner, 'administrators')]);
    })
    .select((eb) => ['i.id', 'i.name', nothing.as('otherName'), eb.fn.coalesce('t.name', 'o.name').as('context')])
    .select(noId.as('parentId'))
    .as('x');

/** The resources of plugins that a search finds by their names. */
export const pluginResourceCandidates: Candidates = (em, principal) =>
  db(em)
    .selectFrom('plugin_resources as r')
    .innerJoin('plugin_installations as i', 'i.id', 'r.installationId')
    .innerJoin('teams as t', 't.id', 'r.teamId')
    .where('r.deletedAt', 'is', null)
    .where('t.deletedAt', 'is', null)
    .where((eb) =>
      eb.and([eb.lit(mayReadPlugins(principal)), isInReadableTeam(principal, eb.ref('r.teamId'), 'hidden')]),
    )
    .select(['r.id', 'r.name', 'r.key as otherName', 'i.name as context', noId.as('parentId')])
    .as('x');

function mayReadPlugins(principal: Principal): boolean {
  return decidePermission(principal, pluginReading).allowed;
}

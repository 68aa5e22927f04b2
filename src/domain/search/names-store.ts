import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { findKnownPeople } from '#domain/members/people-store.ts';
import { candidatesByKind, type NamedKind } from '#domain/searched-kinds.ts';
import { manageableAccounts } from '#domain/service-accounts/store.ts';
import { readAccountAccess } from '#domain/shared/access/account-access.ts';
import { decidePermission } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { isInReadableTeam } from '#domain/shared/access/readable-teams-store.ts';
import { isOfClosedFeature } from '#domain/shared/features/gates.ts';
import { isId } from '#domain/shared/ids.ts';
import type { Candidates } from '#domain/shared/naming/candidates.ts';

type Ids = readonly string[];
type FindNames = (em: Em, principal: Principal, ids: Ids) => Promise<readonly { id: string; name: string }[]>;

/** Finders for kinds without names of their own, for kinds that a search does not cover, and for people. */
const finders: Readonly<Record<string, FindNames>> = {
  run: (em, principal, ids) =>
    db(em)
      .selectFrom('runs')
      .where('runs.id', '=', (eb) => eb.fn.any(eb.val(ids)))
      .where('runs.deletedAt', 'is', null)
      .where((eb) => isInReadableTeam(principal, eb.ref('runs.teamId'), 'visible'))
      .select(['runs.id', 'runs.instance as name'])
      .execute(),
  user: findKnownPeople,
  service_account: findKnownPeople,
  organization_member: findKnownPeople,
  api_key: findKnownKeys,
};

/** API keys of the principal, and of service accounts that the principal may manage, including revoked ones. */
function findKnownKeys(em: Em, principal: Principal, ids: Ids) {
  const mayManage = decidePermission(principal, readAccountAccess).allowed;
  return db(em)
    .selectFrom('api_keys as k')
    .where('k.id', '=', (eb) => eb.fn.any(eb.val(ids)))
    .where((eb) =>
      eb.or([
        eb('k.principalId', '=', principal.id),
        ...(mayManage ? [eb('k.principalId', 'in', manageableAccounts(em, principal))] : []),
      ]),
    )
    .select(['k.id', 'k.name'])
    .execute();
}

/**
 * The names of the things that a principal may read now, by their ids, with one query for each kind. Things that were deleted, are hidden,
 * or belong to an area that is turned off have no name.
 */
export async function findReadableNames(
  em: Em,
  principal: Principal,
  idsByKind: ReadonlyMap<string, Ids>,
): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  // The queries run one after the other, so that a page uses only one connection.
  for (const [kind, ids] of idsByKind) {
    const find = finders[kind] ?? findCandidates(kind);
    const wanted = ids.filter(isId);
    if (!find || wanted.length === 0 || isOfClosedFeature(kind, principal.closedFeatures)) continue;
    for (const { id, name } of await find(em, principal, wanted)) names.set(id, name);
  }
  return names;
}

function findCandidates(kind: string): FindNames | null {
  if (!Object.hasOwn(candidatesByKind, kind)) return null;
  const candidates: Candidates = candidatesByKind[kind as NamedKind];
  return (em, principal, ids) =>
    db(em)
      .selectFrom(candidates(em, principal))
      .where('x.id', '=', (eb) => eb.fn.any(eb.val(ids)))
      .select(['x.id', 'x.name'])
      .execute();
}

import type { Em } from '#database/database.ts';
import { type Access, decide } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { readPrincipals } from '#domain/shared/access/store.ts';
import { bindingAuthority } from './model.ts';
import type { BindingPlace, BindingRow } from './store.ts';

/** Why a binding provides nothing now; null if it provides its connection. */
export type BindingProblem = 'connection_elsewhere' | 'connection_unauthorized' | null;

type Standing = Pick<
  BindingRow,
  'id' | 'environmentId' | 'boundBy' | 'isOfGeneration' | 'isOfMembership' | 'isCovered' | 'isVoid'
>;

/**
 * Decides about bindings as their use does. A binding works if the owner of the connection is still above the place, no transfer has given
 * the place other owners, and the principal who bound it may still bind it. A membership in the team counts only if it is the one by which
 * the binding was made; a renewed membership is a different one.
 */
export async function findBindingProblems(
  em: Em,
  place: BindingPlace,
  bindings: readonly Standing[],
): Promise<ReadonlyMap<string, BindingProblem>> {
  const principals = await readPrincipals(em, [...new Set(bindings.map(({ boundBy }) => boundBy))]);
  const problemOf = (binding: Standing): BindingProblem => {
    const { environmentId, boundBy, isOfGeneration, isOfMembership, isCovered, isVoid } = binding;
    if (!isCovered) return 'connection_elsewhere';
    if (isVoid) return 'connection_unauthorized';
    const found = principals.get(boundBy);
    const binder = found && !isOfMembership ? withoutMembership(found, place.teamId) : found;
    const access: Access = { ...bindingAuthority(environmentId === null ? 'project' : 'environment'), review: 'none' };
    const isAllowed = binder !== undefined && isOfGeneration && decide(binder, access, place).allowed;
    return isAllowed ? null : 'connection_unauthorized';
  };
  return new Map(bindings.map((binding) => [binding.id, problemOf(binding)]));
}

/** The principal without its membership in a team. The team's own service accounts need no membership and are returned unchanged. */
function withoutMembership(principal: Principal, teamId: string): Principal {
  if (principal.owner?.teamId === teamId) return principal;
  const { [teamId]: _, ...teams } = principal.teams;
  return { ...principal, teams };
}

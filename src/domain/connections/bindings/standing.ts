import type { Em } from '#database/database.ts';
import { type Access, decide } from '#domain/shared/access/decide.ts';
import { readPrincipals } from '#domain/shared/access/store.ts';
import { bindingAuthority } from './model.ts';
import type { BindingPlace, BindingRow } from './store.ts';

/** Why a binding gives nothing now; null if it gives its connection. */
export type BindingProblem = 'connection_elsewhere' | 'connection_unauthorized' | null;

type Standing = Pick<BindingRow, 'id' | 'environmentId' | 'boundBy' | 'isOfGeneration' | 'isCovered'>;

/** Decides about bindings as their use does: the connection is still above the place, and whoever bound it may still bind it. */
export async function findBindingProblems(
  em: Em,
  place: BindingPlace,
  bindings: readonly Standing[],
): Promise<ReadonlyMap<string, BindingProblem>> {
  const principals = await readPrincipals(em, [...new Set(bindings.map(({ boundBy }) => boundBy))]);
  const problemOf = ({ environmentId, boundBy, isOfGeneration, isCovered }: Standing): BindingProblem => {
    if (!isCovered) return 'connection_elsewhere';
    const binder = principals.get(boundBy);
    const access: Access = { ...bindingAuthority(environmentId === null ? 'project' : 'environment'), review: 'none' };
    const isAllowed = binder !== undefined && isOfGeneration && decide(binder, access, place).allowed;
    return isAllowed ? null : 'connection_unauthorized';
  };
  return new Map(bindings.map((binding) => [binding.id, problemOf(binding)]));
}

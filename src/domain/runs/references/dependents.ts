import type { Em } from '#database/database.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { Conflict } from '#domain/shared/errors.ts';
import { enumerate } from '#domain/shared/ownership-graph/names.ts';
import { type Dependents, findDependents, findInstanceNamed } from './dependents-store.ts';

/** What the caller of a command says about the instances that were deployed with outputs of another one. */
interface DependentsChoice {
  readonly principal: Principal;
  readonly despiteDependents: boolean;
  /** How the caller can proceed in spite of the refusal. */
  readonly remedy?: string;
}

/**
 * Refuses to remove an instance if others were deployed with its outputs, unless the caller accepts that (`despiteDependents`). The
 * dependents keep the values that they were deployed with.
 * @throws Conflict `has_dependents` naming those that the principal may read, and the number of the others
 */
export async function refuseDependents(
  em: Em,
  instanceId: string,
  { principal, despiteDependents, remedy = 'set despite_dependents' }: DependentsChoice,
): Promise<void> {
  if (despiteDependents) return;
  const dependents = await findDependents(em, instanceId, principal);
  const named = describeDependents(dependents);
  if (named === null) return;
  throw new Conflict(
    `other instances were deployed with outputs of this one: ${named}; deploy them without it first, or ${remedy}: they keep the values that they were given`,
    'has_dependents',
  );
}

/** `refuseDependents` for a destroy that names its instance by environment and name. */
export async function refuseDependentsOf(
  em: Em,
  place: { readonly environmentId: string | null; readonly instance: string },
  choice: DependentsChoice,
): Promise<void> {
  const { environmentId, instance } = place;
  if (environmentId === null || choice.despiteDependents) return;
  const id = await findInstanceNamed(em, { environmentId }, instance);
  if (id !== undefined) await refuseDependents(em, id, choice);
}

/** Names the dependents for people; null if there are none. */
export function describeDependents({ shown, others }: Dependents): string | null {
  if (shown.length + others === 0) return null;
  const names = shown.map(({ name, environment }) => `${environment ?? ''}/${name}`);
  const hidden = others > 0 ? [`${others} that you may not read`] : [];
  return [...(names.length > 0 ? [enumerate(names)] : []), ...hidden].join(' and ');
}

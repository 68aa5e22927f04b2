import { isDeepStrictEqual } from 'node:util';
import { Environment } from '#domain/environments/entity.ts';
import type { EnvironmentTarget } from '#domain/environments/store.ts';
import { Project } from '#domain/projects/entity.ts';
import type { ProjectTarget } from '#domain/projects/store.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { refuseArchived } from '#domain/shared/archiving.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Invalid } from '#domain/shared/errors.ts';
import { refuseStale, saveChange } from '#domain/shared/revisions.ts';
import type { VariablePhase } from '#domain/variables/model.ts';
import type { WantedBinding } from './model.ts';
import { type BindingPlace, findUsableIds, phasesOf, readBindings, writeBindings } from './store.ts';

/** A project or an environment that binds connections. */
export type BindingTarget = ProjectTarget | EnvironmentTarget;

type Bound = Readonly<Record<string, { connectionId: string; phases: readonly VariablePhase[] }>>;

export function placeOf(target: BindingTarget): BindingPlace {
  const { organizationId, teamId } = target;
  return 'projectId' in target
    ? { organizationId, teamId, projectId: target.projectId, environmentId: target.id }
    : { organizationId, teamId, projectId: target.id, environmentId: null };
}

/**
 * Replaces the bindings of a project or an environment. The principal answers for all of them: each use of a binding checks that the
 * principal may still bind the connection. The caller has locked the row of the target.
 * @throws Invalid naming a connection that does not exist, or whose owner is not above the target; Conflict for a stale revision, or an
 * archived target
 */
export async function replaceBindings(
  tx: Transaction,
  principal: Principal,
  target: BindingTarget,
  wanted: Readonly<Record<string, WantedBinding>>,
  expectedRevision: number | undefined,
): Promise<{ before: Bound; after: Bound; revision: number }> {
  refuseArchived(target);
  refuseStale(target, expectedRevision);
  const place = placeOf(target);
  const ids = Object.values(wanted).map(({ connectionId }) => connectionId);
  const usable = await findUsableIds(tx.em, place, ids);
  // Ids of other owners' connections get the same answer as ids that do not exist.
  const missing = Object.keys(wanted).find((name) => !usable.has(wanted[name]?.connectionId ?? ''));
  if (missing !== undefined)
    throw new Invalid(
      `${missing}.connection_id: there is no such connection that this ${place.environmentId ? 'environment' : 'project'} may use: name one of its project, its team, its organization or the installation`,
    );
  const current = await readBindings(tx.em, place);
  const before = describe(current);
  if (isSame(current, wanted, principal)) return { before, after: before, revision: target.revision };
  await writeBindings(tx.em, place, wanted, principal.id);
  await ('projectId' in target ? saveChange(tx.em, Environment, target, {}) : saveChange(tx.em, Project, target, {}));
  return { before, after: describe(await readBindings(tx.em, place)), revision: target.revision + 1 };
}

/** Whether the same principal, with the same membership, has bound exactly these: binding them again would change nothing. */
function isSame(
  current: Awaited<ReturnType<typeof readBindings>>,
  wanted: Readonly<Record<string, WantedBinding>>,
  { id }: Principal,
): boolean {
  if (current.length !== Object.keys(wanted).length) return false;
  return current.every((row) => {
    const { connectionId, phases = [] } = wanted[row.name] ?? {};
    const isBoundByThem = row.boundBy === id && row.isOfGeneration && row.isAsWhenBound && !row.isVoid;
    return (
      isBoundByThem && connectionId === row.connectionId && isDeepStrictEqual(new Set(phases), new Set(phasesOf(row)))
    );
  });
}

function describe(rows: Awaited<ReturnType<typeof readBindings>>): Bound {
  return Object.fromEntries(rows.map((row) => [row.name, { connectionId: row.connectionId, phases: phasesOf(row) }]));
}

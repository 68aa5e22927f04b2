import type { Ownership } from '#domain/shared/access/decide.ts';
import type { Refusal } from '#domain/shared/actions.ts';
import { findArchivedRefusal } from '#domain/shared/archiving.ts';
import { isOpenTo, type PoolAccess } from '#domain/workers/pools/model.ts';
import type { AdmissionTarget } from './target.ts';

/** The existing instance with the name that a run's request has. */
export interface Occupant {
  readonly templateId: string;
  readonly resourceCount: number;
}

/** The facts that decide whether an ended run can be requeued or copied. */
export interface AdmissionFacts {
  /** Null: the template or the environment no longer exists. */
  readonly target: AdmissionTarget | null;
  readonly instance: string;
  /** Null: no instance has that name yet. */
  readonly occupant: Occupant | null;
  readonly pool: { readonly name: string; readonly access: PoolAccess | null };
}

/** The refusal of a requeue. It applies the rules of admission, in the same order; null if the requeue is allowed. */
export function findRequeueRefusal({ target, instance, occupant, pool }: AdmissionFacts): Refusal | null {
  if (!target) return targetIsGone;
  return (
    findArchivedRefusal(target) ??
    findOccupiedRefusal(occupant, target.templateId, instance) ??
    findClosedPoolRefusal(pool, target)
  );
}

/**
 * The refusal that applies to every copy of a run; null if some copy is allowed. It does not check instance and pool, because a copy can
 * name another instance, or a version that uses another pool.
 */
export function findCopyRefusal({ target }: AdmissionFacts): Refusal | null {
  return target ? findArchivedRefusal(target) : targetIsGone;
}

export const targetIsGone: Refusal = {
  code: 'nothing_to_run_for',
  message: "the run's template or environment is gone: there is nothing to run it for",
};

/** An instance belongs to the template that created its resources, until it has no resources. */
export function findOccupiedRefusal(occupant: Occupant | null, templateId: string, name: string): Refusal | null {
  if (!occupant || occupant.templateId === templateId || occupant.resourceCount === 0) return null;
  const message = `the instance "${name}" was deployed from another template (${occupant.templateId}): destroy it first, or name another instance`;
  return { code: 'instance_occupied', message };
}

export function findClosedPoolRefusal(
  { name, access }: AdmissionFacts['pool'],
  owner: Pick<Ownership, 'teamId'> & { readonly environmentId: string | null },
): Refusal | null {
  if (isOpenTo(access, owner)) return null;
  const message = `the worker pool "${name}" is not open to this team or environment: ask an administrator who manages workers, or use another pool`;
  return { code: 'pool_closed', message };
}

import type { Ownership } from '#domain/shared/access/decide.ts';
import type { Refusal } from '#domain/shared/actions.ts';
import { isOpenTo, type PoolAccess } from '#domain/workers/pools/model.ts';
import type { AdmissionTarget } from './target.ts';

/** The instance that has the name which a run asks for. */
export interface Occupant {
  readonly templateId: string;
  readonly resourceCount: number;
}

/** The facts on which it depends whether an ended run could be admitted anew. */
export interface AdmissionFacts {
  /** Null: the template or the environment is gone. */
  readonly target: AdmissionTarget | null;
  readonly instance: string;
  /** Null: no instance has that name. */
  readonly occupant: Occupant | null;
  readonly pool: { readonly name: string; readonly access: PoolAccess | null };
}

/** The refusal of a requeue, by the rules that admission itself applies and in the same order. */
export function findRequeueRefusal({ target, instance, occupant, pool }: AdmissionFacts): Refusal | null {
  if (!target) return nothingToRunFor;
  return (
    findArchivedRefusal(target) ??
    findOccupiedRefusal(occupant, target.templateId, instance) ??
    findClosedPoolRefusal(pool, target)
  );
}

export const nothingToRunFor: Refusal = {
  rule: 'nothing_to_run_for',
  message: "the run's template or environment is gone: there is nothing to run it for",
};

export function findArchivedRefusal({ archived }: Pick<AdmissionTarget, 'archived'>): Refusal | null {
  if (archived === null) return null;
  return { rule: 'archived', message: `the ${archived} is archived: unarchive it before you run anything in it` };
}

/** An instance belongs to the template that made its resources, until it has none. */
export function findOccupiedRefusal(occupant: Occupant | null, templateId: string, name: string): Refusal | null {
  if (!occupant || occupant.templateId === templateId || occupant.resourceCount === 0) return null;
  const message = `the instance "${name}" was deployed from another template (${occupant.templateId}): destroy it first, or name another instance`;
  return { rule: 'instance_occupied', message };
}

export function findClosedPoolRefusal(
  { name, access }: AdmissionFacts['pool'],
  owner: Pick<Ownership, 'teamId'> & { readonly environmentId: string | null },
): Refusal | null {
  if (isOpenTo(access, owner)) return null;
  const message = `the worker pool "${name}" is not open to this team or environment: ask who manages workers, or use another pool`;
  return { rule: 'pool_closed', message };
}

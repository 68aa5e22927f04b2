import type { Em } from '#database/database.ts';
import { prepareTakePosition } from '#domain/instances/store.ts';
import { availableVersionsOf } from '#domain/registry/store.ts';
import type { AdmissionTarget } from './target.ts';

type Place = Pick<AdmissionTarget, 'templateId' | 'environmentId'>;

const takePosition = prepareTakePosition(availableVersionsOf);

/** The instance of a run that is being admitted, and in `ofTemplate` the versions of its template, which cannot change before the commit. */
export type QueuedInstance = Awaited<ReturnType<typeof takePosition>>;

/** What each transaction has read of the instance for which it admits a run. */
const queued = new WeakMap<
  Em,
  { readonly name: string; readonly place: Place; readonly row: Promise<QueuedInstance> }
>();

/**
 * Finds or makes the instance of a run and takes the next position in its queue. What decides about the run is read by the same statement:
 * the row of the instance stays locked, and the caller shares that of the template.
 */
export function queueRun(em: Em, name: string, target: AdmissionTarget): Promise<QueuedInstance> {
  const { templateId, teamId, environmentId } = target;
  const row = takePosition(em, { name, templateId, teamId, environmentId });
  queued.set(em, { name, place: { templateId, environmentId }, row });
  return row;
}

/** The instance that this transaction has queued a run for. Undefined: it has not, or for another instance. */
export function findQueued(
  em: Em,
  { templateId, environmentId }: Place,
  name: string,
): Promise<QueuedInstance> | undefined {
  const known = queued.get(em);
  if (known?.name !== name) return undefined;
  const { place } = known;
  return place.templateId === templateId && place.environmentId === environmentId ? known.row : undefined;
}

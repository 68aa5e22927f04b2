import { noteChangedInputs } from '#domain/runs/references/changed-inputs.ts';
import { findDependentIds } from '#domain/runs/references/dependents-store.ts';
import type { PublishedEvent } from '#domain/shared/events/event-type.ts';
import type { FollowDeps } from './change.ts';
import { type Cause, follow } from './follow.ts';
import { findEndedRun, findFollows, stopReason } from './follows-store.ts';
import { maxFollowers } from './model.ts';

interface FollowLimits {
  /** The maximum number of instances that follow one event. */
  readonly followers: number;
  /** How many instances are read at a time. */
  readonly page: number;
}

const usualLimits: FollowLimits = { followers: maxFollowers, page: 100 };

/**
 * Processes the instances that an event may concern. After a run, these are its own instance, because outputs may have changed while the
 * run was executing, and the instances that were deployed with its outputs. For other events, they are the instances that were deployed
 * with outputs of the subject. It records whether their inputs changed, and starts runs of those that follow. It may be repeated: each
 * state of the sources is followed once.
 * @throws any temporary error, after all instances were tried; the delivery is then repeated
 */
export async function handleUpstreamEvent(
  deps: FollowDeps,
  { type, subject }: { readonly type: string; readonly subject: Pick<PublishedEvent['subject'], 'id'> },
  limits = usualLimits,
): Promise<void> {
  const errors: unknown[] = [];
  const attempt = async (instanceId: string, cause: Cause | null) => {
    try {
      await deps.transactions.run((tx) => noteChangedInputs(tx, deps.keyRing, instanceId));
      if (cause) await follow(deps, instanceId, cause);
    } catch (error) {
      deps.log.error(
        { err: error, instance_id: instanceId },
        'could not start a run of an instance that follows outputs of others; the event will be delivered again',
      );
      errors.push(error);
    }
  };
  if (type === 'run.finished' || type === 'run.state_recovered') await lookAfterRun(deps, subject.id, attempt, limits);
  else await lookAtDependents(deps, { sourceId: subject.id, runId: null, isFollowed: true }, attempt, limits);
  if (errors.length > 0) throw errors[0];
}

/** Processes one instance; if there is a cause, the instance may follow it. */
type Attempt = (instanceId: string, cause: Cause | null) => Promise<void>;

async function lookAfterRun(deps: FollowDeps, runId: string, attempt: Attempt, limits: FollowLimits): Promise<void> {
  const run = await findEndedRun(deps.orm.em.fork(), runId);
  if (!run) return;
  await attempt(run.instanceId, { runId, isBeyondLimit: false });
  const { instanceId: sourceId, isFollowed } = run;
  if (run.hasChanged) await lookAtDependents(deps, { sourceId, runId, isFollowed }, attempt, limits);
}

/** The changed source, and whether instances follow it. */
interface Source {
  readonly sourceId: string;
  readonly runId: string | null;
  readonly isFollowed: boolean;
}

/** Processes the dependents of a source. Instances that no longer follow are notified why, and do not count towards the limit. */
async function lookAtDependents(
  { orm }: FollowDeps,
  { sourceId, runId, isFollowed }: Source,
  attempt: Attempt,
  limits: FollowLimits,
): Promise<void> {
  let followers = 0;
  let ids: string[] = [];
  do {
    const em = orm.em.fork();
    ids = await findDependentIds(em, sourceId, { after: ids.at(-1) ?? null, limit: limits.page });
    const follows = await findFollows(em, ids);
    for (const id of ids) {
      const found = follows.get(id);
      if (found && stopReason(found) === null) followers++;
      await attempt(id, found && isFollowed ? { runId, isBeyondLimit: followers > limits.followers } : null);
    }
  } while (ids.length === limits.page);
}

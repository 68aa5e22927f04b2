import { noteChangedInputs } from '#domain/runs/references/changed-inputs.ts';
import { findDependentIds } from '#domain/runs/references/dependents-store.ts';
import type { PublishedEvent } from '#domain/shared/events/published-event.ts';
import type { FollowDeps } from './change.ts';
import { type Cause, follow } from './follow.ts';
import { findEndedRun, findFollows, stopReason } from './follows-store.ts';
import { maxFollowers } from './model.ts';

interface FollowLimits {
  /** How many instances may follow one event. */
  readonly followers: number;
  /** How many instances are read at a time. */
  readonly page: number;
}

const usualLimits: FollowLimits = { followers: maxFollowers, page: 100 };

/**
 * Looks at what may concern an event: after a run, its own instance, for what changed while it was under way, and those that were deployed with its outputs;
 * else those that were deployed with outputs of the subject. Keeps whether their inputs changed, and lets those follow that do. It may be repeated: each state
 * of what an instance reads is followed once.
 * @throws any error that may pass, once all instances were tried: the delivery tries again
 */
export async function followEvent(
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
      deps.log.error({ err: error, instance_id: instanceId }, 'could not let an instance follow what it reads');
      errors.push(error);
    }
  };
  if (type === 'run.finished' || type === 'run.state_recovered') await lookAfterRun(deps, subject.id, attempt, limits);
  else await lookAtDependents(deps, { sourceId: subject.id, runId: null, isFollowed: true }, attempt, limits);
  if (errors.length > 0) throw errors[0];
}

/** Looks at one instance; lets it follow if there is a cause. */
type Attempt = (instanceId: string, cause: Cause | null) => Promise<void>;

async function lookAfterRun(deps: FollowDeps, runId: string, attempt: Attempt, limits: FollowLimits): Promise<void> {
  const run = await findEndedRun(deps.orm.em.fork(), runId);
  if (!run) return;
  await attempt(run.instanceId, { runId, isBeyondLimit: false });
  const { instanceId: sourceId, isFollowed } = run;
  if (run.hasChanged) await lookAtDependents(deps, { sourceId, runId, isFollowed }, attempt, limits);
}

/** What changed, and whether those follow it that follow anything. */
interface Source {
  readonly sourceId: string;
  readonly runId: string | null;
  readonly isFollowed: boolean;
}

/** Those that follow nothing any longer are told why, and take nobody's place. */
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

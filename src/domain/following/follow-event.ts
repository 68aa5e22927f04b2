import type { PublishedEvent } from '#domain/shared/events/event-store.ts';
import type { FollowDeps } from './change.ts';
import { type Cause, follow } from './follow.ts';
import { findEndedRun, findFollowers } from './follows-store.ts';
import { maxFollowers } from './model.ts';

/**
 * Lets instances follow what happened. After a run, these are those that were deployed with its outputs, and its own, for what changed while it was under way;
 * else those that may not read any longer what they were deployed with. It may be repeated: each state of what an instance reads is followed once.
 * @throws any error that may pass, once all instances were tried: the delivery tries again
 */
export async function followEvent(
  deps: FollowDeps,
  { type, subject }: { readonly type: string; readonly subject: Pick<PublishedEvent['subject'], 'id'> },
): Promise<void> {
  const em = deps.orm.em.fork();
  if (type !== 'run.finished') return followAll(deps, null, await findFollowers(em, subject.id));
  const run = await findEndedRun(em, subject.id);
  if (!run) return;
  const others = run.hasChanged ? await findFollowers(em, run.instanceId) : [];
  await followAll(deps, subject.id, others, [run.instanceId]);
}

async function followAll(
  deps: FollowDeps,
  runId: string | null,
  others: readonly string[],
  own: readonly string[] = [],
): Promise<void> {
  const errors: unknown[] = [];
  const attempt = async (instanceId: string, cause: Cause) => {
    try {
      await follow(deps, instanceId, cause);
    } catch (error) {
      deps.log.error({ err: error, instance_id: instanceId }, 'could not let an instance follow what it reads');
      errors.push(error);
    }
  };
  for (const id of own) await attempt(id, { runId, isBeyondLimit: false });
  for (const [index, id] of others.entries()) await attempt(id, { runId, isBeyondLimit: index >= maxFollowers });
  if (errors.length > 0) throw errors[0];
}

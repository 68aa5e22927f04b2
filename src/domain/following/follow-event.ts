import { noteChangedInputs } from '#domain/runs/references/changed-inputs.ts';
import type { PublishedEvent } from '#domain/shared/events/event-store.ts';
import type { FollowDeps } from './change.ts';
import { type Cause, follow } from './follow.ts';
import { findEndedRun, findReading } from './follows-store.ts';
import { maxFollowers } from './model.ts';

/**
 * Looks at what may concern an event: after a run, its own instance, for what changed while it was under way, and those that were deployed with its outputs;
 * else those that were deployed with outputs of the subject. Keeps whether their inputs changed, and lets those follow that do. It may be repeated: each state
 * of what an instance reads is followed once.
 * @throws any error that may pass, once all instances were tried: the delivery tries again
 */
export async function followEvent(
  deps: FollowDeps,
  { type, subject }: { readonly type: string; readonly subject: Pick<PublishedEvent['subject'], 'id'> },
): Promise<void> {
  const em = deps.orm.em.fork();
  if (type !== 'run.finished') return lookAtAll(deps, null, await findReading(em, subject.id));
  const run = await findEndedRun(em, subject.id);
  if (!run) return;
  const others = run.hasChanged ? await findReading(em, run.instanceId) : [];
  await lookAtAll(deps, subject.id, others, run.instanceId);
}

async function lookAtAll(
  deps: FollowDeps,
  runId: string | null,
  others: readonly { readonly id: string; readonly follows: boolean }[],
  own: string | null = null,
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
  if (own !== null) await attempt(own, { runId, isBeyondLimit: false });
  let followers = 0;
  for (const { id, follows } of others)
    await attempt(id, follows ? { runId, isBeyondLimit: ++followers > maxFollowers } : null);
  if (errors.length > 0) throw errors[0];
}

import type { Em } from '#domain/shared/database.ts';
import { askAfterWorker } from '#domain/workers/service.ts';
import type { Run, RunAttempt } from './entity.ts';
import type { AttemptPhase, NextStep } from './model.ts';

/** What the engine waits beyond the executor's own limit before it takes a worker for lost in any case. */
const engineMarginSeconds = 300;
/** How long a worker of which the engine lost sight has to be heard of in the database: more than one heartbeat. */
const lookAgainSeconds = 6;

/** How long one attempt may take at most, in seconds. */
export function executionSeconds({ timeouts }: Run, phase: AttemptPhase): number {
  return (phase === 'planning' ? timeouts.plan : timeouts.apply) + engineMarginSeconds;
}

/** How long the engine may hear of nothing but heartbeats: whoever made a plan also applies it, where nobody has to decide. */
export function engagementSeconds(run: Run, phase: AttemptPhase): number {
  const goesOn = phase === 'planning' && run.isWriter();
  return executionSeconds(run, phase) + (goesOn ? executionSeconds(run, 'applying') : 0);
}

/**
 * What to do about an open attempt of which the engine lost sight: to look again, or null where its worker is lost.
 *
 * The engine loses sight of every worker when it is away itself for a while, and an apply that goes on is not to be taken
 * for interrupted because of that. The database knows who lives, and a worker closes its attempts also where it fails, so
 * one that lives is at work. One that is silent is asked after twice: the database may just have been away, too.
 */
export async function lookAfter(em: Em, run: Run, attempt: RunAttempt, isSuspected: boolean): Promise<NextStep | null> {
  if (!attempt.workerId) return null;
  if (Date.now() - attempt.startedAt.getTime() > executionSeconds(run, attempt.phase) * 1000) return null;
  const word = await askAfterWorker(em, attempt.workerId);
  if (word === 'alive') return { kind: 'wait', seconds: lookAgainSeconds };
  return word === 'silent' && !isSuspected ? { kind: 'wait', seconds: lookAgainSeconds, suspects: true } : null;
}

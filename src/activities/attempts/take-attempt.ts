import { type AttemptWork, type Claimant, claimAttempt } from '#domain/runs/attempts/claim.ts';
import { beginRun } from '#domain/runs/attempts/claiming/begin.ts';
import { abandonAttempt } from '#domain/runs/attempts/complete.ts';
import type { Continuation } from '#domain/runs/attempts/continue.ts';
import { findOwnAttempt } from '#domain/runs/attempts/store.ts';
import type { AttemptRefused } from '#domain/runs/errors.ts';
import { timed } from '#domain/shared/tasks/spans.ts';
import type { AttemptDeps } from '../deps.ts';
import { writeWithRetry } from '../write-with-retry.ts';
import { ignoreSuperseded } from './attempt-sink.ts';

/** How a worker gets attempts, and gives up those that it cannot execute. */

type TakingDeps = Pick<
  AttemptDeps,
  'orm' | 'transactions' | 'keyRing' | 'log' | 'workerId' | 'isolation' | 'issuer' | 'findTools'
>;

/**
 * Begins a run. If that fails, PostgreSQL may have committed the claim of an attempt all the same. This worker hands such an attempt back,
 * because nobody would execute it.
 */
export async function begin(deps: TakingDeps, runId: string): Promise<Continuation> {
  const { workerId } = deps;
  try {
    const claimant = await describeClaimant(deps);
    return await timed('begin', { runId }, () => beginRun(deps.transactions, deps.keyRing, runId, claimant));
  } catch (error) {
    const claimed = await writeWithRetry(deps, runId, (em) =>
      findOwnAttempt(em, { runId, workerId, phase: 'planning' }),
    );
    if (claimed !== undefined) await giveUp(deps, claimed, 'handed_back');
    throw error;
  }
}

/** Claims an attempt. @throws like `claimAttempt` */
export async function claim(deps: TakingDeps, attemptId: string): Promise<AttemptWork | null> {
  const claimant = await describeClaimant(deps);
  return timed('claim', { attemptId }, () => claimAttempt(deps.orm.em.fork(), deps.keyRing, attemptId, claimant));
}

/** This worker, with the tools that it has now. */
export async function describeClaimant({ workerId, isolation, issuer, findTools }: TakingDeps): Promise<Claimant> {
  return { workerId, isolation, issuer, tools: await findTools() };
}

/** Ends an attempt that this worker does not execute, unless it is already over (`abandonAttempt`). */
export async function giveUp(
  deps: TakingDeps,
  attemptId: string,
  outcome: 'lost' | 'handed_back' | 'failed',
  refused?: AttemptRefused,
): Promise<void> {
  await writeWithRetry(deps, attemptId, () =>
    deps.transactions.run((tx) => abandonAttempt(tx, attemptId, deps.workerId, outcome, refused)),
  ).catch(ignoreSuperseded);
}

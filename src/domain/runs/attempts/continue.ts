import type { Em } from '#database/database.ts';
import type { KeptModules } from '#domain/registry/kept-modules/model.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { AttemptSuperseded } from '#domain/shared/errors.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import type { VersionedTool } from '#domain/tools/model.ts';
import { readEgress } from '#domain/workers/pools/store.ts';
import { inputsOfPhase, openInputs } from '../admission/inputs/inputs.ts';
import { Run, RunAttempt } from '../entity.ts';
import { type NextStep, poolQueue } from '../model.ts';
import type { AttemptWork, Claimant } from './claim.ts';
import { shareApplyStart } from './claiming/start-check.ts';
import { concludeAttempt } from './complete.ts';
import { claimForWorker, findOwnAttempt } from './store.ts';
import type { AttemptResult } from './writes.ts';

/** What follows an attempt. */
export interface Continuation {
  /** The next step of the run; null if only its workflow can ask for it. */
  readonly step: NextStep | null;
  /** The next attempt, if the worker has claimed it and must execute it; null: whoever executes it claims it first. */
  readonly work: AttemptWork | null;
}

/** Nothing follows unless the workflow of the run asks for it. */
export const nothingKnown: Continuation = { step: null, work: null };

/**
 * Stores the result of an attempt and takes the next step of the run. If that applies the plan, the same transaction gives the apply to the
 * worker, which has everything for it but the plan. What an apply depends on beyond that (reviews, connections, outputs of others) is only
 * looked at by a claim of its own.
 * @throws like `completeAttempt`
 */
export async function continueRun(
  tx: Transaction,
  keyRing: KeyRing,
  {
    work,
    result,
    claimant,
  }: { readonly work: AttemptWork; readonly result: AttemptResult; readonly claimant: Claimant },
): Promise<Continuation> {
  const mayClaim = isSelfContained(work) && result.plan !== undefined && hasTool(claimant, result.tool);
  if (!mayClaim) return { step: await concludeAttempt(tx, keyRing, work.attempt.id, result), work: null };
  await shareApplyStart(tx.em, work.run.environmentId ?? null);
  const { workerId, isolation } = claimant;
  const { run, attempt } = work;
  const queue = poolQueue(run.pool, isolation);
  const step = await concludeAttempt(tx, keyRing, attempt.id, result, queue).catch(async (error: unknown) => {
    const attemptId =
      error instanceof AttemptSuperseded &&
      (await findOwnAttempt(tx.em, { runId: run.id, workerId, phase: 'applying' }));
    if (attemptId) return { kind: 'own', attemptId } as const;
    throw error;
  });
  if (step.kind === 'own') return { step: null, work: await toApplyWork(tx, keyRing, { work, result, ...step }) };
  if (step.kind !== 'execute') return { step, work: null };
  const { attemptId } = step;
  const isClaimed = (await claimForWorker(tx.em, { attemptId, workerId, isolation })) !== null;
  // If this worker must not execute it, the workflow asks where it can be executed.
  return isClaimed ? { step, work: await toApplyWork(tx, keyRing, { work, result, attemptId }) } : nothingKnown;
}

/** Whether nobody else decides whether the plan may be applied with what the worker has: it is the first, and reads nothing of others. */
function isSelfContained({ run, attempt, spec, isBound }: AttemptWork): boolean {
  const isFirstPlan = attempt.phase === 'planning' && !run.planDigest;
  return isFirstPlan && !run.reads && !isBound && (spec.connections ?? []).length === 0;
}

function hasTool({ tools }: Claimant, tool: VersionedTool | null): boolean {
  return tool === null || tools.some(({ name, version }) => name === tool.name && version === tool.version);
}

async function toApplyWork(
  { em }: Transaction,
  keyRing: KeyRing,
  {
    work,
    result,
    attemptId,
  }: { readonly work: AttemptWork; readonly result: AttemptResult; readonly attemptId: string },
): Promise<AttemptWork> {
  const run = await em.findOneOrFail(Run, { id: work.run.id });
  return {
    ...work,
    run,
    attempt: await readAttempt(em, attemptId),
    inputs: inputsOfPhase(openInputs(keyRing, run.id, run.sealedInputs), 'applying'),
    artifact: result.plan?.artifact ?? null,
    planDigest: result.plan?.executorDigest ?? null,
    modules: modulesOf(result) ?? work.modules,
    // An operator may have limited it since.
    egress: await readEgress(em, run.pool),
  };
}

function modulesOf({ modules }: AttemptResult): KeptModules | null {
  if (!modules) return null;
  const { isPlain: _, ...kept } = modules;
  return kept;
}

/** Reads an attempt, unless the transaction has just written it. */
export async function readAttempt(em: Em, id: string): Promise<RunAttempt> {
  return em.getUnitOfWork().getById<RunAttempt>(RunAttempt, id) ?? (await em.findOneOrFail(RunAttempt, { id }));
}

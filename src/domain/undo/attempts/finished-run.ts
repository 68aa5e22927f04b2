import type { Orm } from '#database/database.ts';
import { describeDetail } from '#domain/runs/diagnostics/status-detail.ts';
import { touchedAddresses } from '#domain/runs/plans/deviations.ts';
import { noSections, touchedOutputs } from '#domain/runs/plans/sections.ts';
import { findRunToChange } from '#domain/runs/targets.ts';
import { recordUndone } from '#domain/runs/undone.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import type { CommandChange } from '#domain/shared/audit.ts';
import { NothingToDo, runSystemCommand, type SystemCommandDeps } from '#domain/shared/commands/system-command.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import type { PublishedEvent } from '#domain/shared/events/event-type.ts';
import { redacted } from '#domain/shared/values/comparison/marks.ts';
import { withoutMisleading } from '#domain/shared/values/human-name.ts';
import { statusReasons } from '#domain/shared/vocabulary/run-reasons.ts';
import { dataGone } from '../deployments/deployments.ts';
import type { UndoAttempt } from '../entity.ts';
import { type CheckStep, type Problem, stateOf, type Verdict } from '../model.ts';
import { publishState } from '../publish-event.ts';
import { findCollateralProblem } from './collateral.ts';
import { findAttemptOfRun, findBaseline, lockCandidateCheck, type RunOfAttempt, readEnding } from './store.ts';
import { findAttemptOwner, lockAttempt } from './targets.ts';

type Ending = Awaited<ReturnType<typeof readEnding>>;

export interface FinishedRunDeps extends SystemCommandDeps {
  readonly orm: Orm;
}

/** Continues the attempt to which a finished run belongs. It may be called again for the same event. */
export async function continueUndoAfterRun(
  deps: FinishedRunDeps,
  { id, subject }: Pick<PublishedEvent, 'id' | 'subject'>,
): Promise<void> {
  const found = await findAttemptOfRun(deps.orm.em.fork(), subject.id);
  if (found?.part === 'promotion') await concludePromotion(deps, id, subject.id);
  else if (found) await concludeCheck(deps, id, subject.id, found);
}

/** The maximum time before the workflow of a check looks at the scan again, in case a signal was lost. */
const checkAgainSeconds = 60;

/**
 * The step of a check's workflow: concludes the check once its scan has ended. The event of that end does the same, so each works without
 * the other.
 */
export async function advanceCheck(deps: FinishedRunDeps, attemptId: string): Promise<CheckStep> {
  const baseline = await findBaseline(deps.orm.em.fork(), attemptId);
  if (!baseline) return { kind: 'end' };
  const { runId, hasEnded } = baseline;
  if (!hasEnded) return { kind: 'wait', seconds: checkAgainSeconds };
  await concludeCheck(deps, runId, runId, { attemptId, part: 'baseline' });
  return { kind: 'end' };
}

async function concludeCheck(deps: FinishedRunDeps, cause: string, runId: string, { attemptId, part }: RunOfAttempt) {
  const isBaseline = part === 'baseline';
  const action = isBaseline ? 'selective_undo.checked' : 'selective_undo.candidate_checked';
  await runSystemCommand(
    deps,
    { action, target: { id: attemptId }, cause },
    {
      find: (tx) => findLocked(tx, attemptId),
      act: async (tx, _caller, target) => {
        if (!target) throw new NothingToDo();
        const ending = await readEnding(tx.em, runId);
        if (isBaseline) concludeBaseline(target.attempt, runId, ending);
        else await concludeCandidateCheck(tx, target.attempt, runId, ending);
        return changeOf(tx, target);
      },
    },
  );
}

interface Locked extends Ownership {
  readonly attempt: UndoAttempt;
}

async function findLocked(tx: Transaction, attemptId: string): Promise<Locked | undefined> {
  const attempt = await lockAttempt(tx.em, attemptId);
  const owner = attempt && (await findAttemptOwner(tx.em, attemptId));
  return owner ? { ...owner, attempt } : undefined;
}

async function changeOf(tx: Transaction, { attempt, ...owner }: Locked): Promise<CommandChange> {
  await tx.em.flush();
  publishState(tx, attempt, owner);
  const { id, state, problem, revision } = attempt;
  return { id, after: { state, problem: problem?.code ?? null }, revision };
}

/** After the scan: the paths are clean only if no resource of the instance differs from its state. */
function concludeBaseline(attempt: UndoAttempt, runId: string, ending: Ending): void {
  if (attempt.state !== 'checking') throw new NothingToDo();
  attempt.checkedAt = new Date();
  if (ending.status !== 'succeeded') {
    const gaveWay = ending.reason === 'gave_way';
    attempt.moveTo(gaveWay ? 'blocked' : 'failed', scanFailed(runId, ending));
    return;
  }
  if (ending.changes === null) {
    attempt.moveTo('failed', withoutPlan(runId));
    return;
  }
  const addresses = touchedAddresses(ending.changes);
  if (addresses.length > 0) attempt.verdicts = asDrifted(attempt.verdicts, addresses);
  attempt.moveTo(
    addresses.length > 0 ? 'blocked' : stateOf(attempt.verdicts),
    addresses.length > 0 ? drifted(runId, addresses) : null,
  );
}

/**
 * The maximum number of characters of the addresses in all verdicts of an attempt, since the author of the template chooses the addresses.
 */
const namedCharacters = 1_000_000;

/** Sets all verdicts to `drifted`. Each names as many resources as fit. The problem of the attempt says how many differ. */
function asDrifted(verdicts: readonly Verdict[], addresses: readonly string[]): Verdict[] {
  const named = cutToRoom(addresses, namedCharacters / verdicts.length);
  const message = 'the instance differs from its latest state: revert or adopt the drift, and check again';
  return verdicts.map(({ path }) => ({ path, verdict: 'drifted', cause: { message, addresses: named } }));
}

function cutToRoom(addresses: readonly string[], characters: number): string[] {
  let room = characters;
  return addresses.filter((address) => {
    room -= address.length;
    return room >= 0;
  });
}

/**
 * After the plan of the candidate: the resources and outputs that it touches but the undone run did not become the collateral. Addresses
 * with masked secrets cannot be compared between plans, so all of them are collateral.
 */
async function concludeCandidateCheck(
  tx: Transaction,
  attempt: UndoAttempt,
  runId: string,
  ending: Ending,
): Promise<void> {
  const check = await lockCandidateCheck(tx.em, runId);
  if (check?.state !== 'checking' || attempt.state !== 'candidate_checking') throw new NothingToDo();
  const own = await readEnding(tx.em, attempt.runId);
  const touched = new Set(touchedBy(own));
  // An older plan of the undone run does not say which outputs it changed, so outputs are not compared with it.
  const planned = own.sections === null ? touchedAddresses(ending.changes ?? []) : touchedBy(ending);
  const beside = planned.filter((address) => !touched.has(address) || address.includes(redacted));
  const problem = findPlanProblem(attempt, runId, ending, own) ?? findCollateralProblem(beside, runId);
  const collateral = problem ? null : beside;
  Object.assign(check, { state: problem ? 'failed' : 'passed', problem, collateral, finishedAt: new Date() });
  attempt.collateral = collateral;
  attempt.moveTo(problem ? 'ready' : 'promotable', problem);
}

function touchedBy({ changes, sections }: Ending): string[] {
  return [...touchedAddresses(changes ?? []), ...touchedOutputs(sections ?? noSections)];
}

function findPlanProblem({ runId: undone }: UndoAttempt, runId: string, ending: Ending, own: Ending): Problem | null {
  if (ending.status !== 'succeeded') return planFailed(runId, ending);
  if (ending.changes === null) return { ...withoutPlan(runId), code: 'plan_failed' };
  return own.changes ? null : dataGone(undone);
}

/** After the promoted run: if it has succeeded, the undone run names it. Otherwise it is not certain that anything was undone. */
async function concludePromotion(deps: FinishedRunDeps, cause: string, runId: string): Promise<void> {
  const { status, undoes } = await readEnding(deps.orm.em.fork(), runId);
  if (status !== 'succeeded' || undoes === null) return;
  await runSystemCommand(
    deps,
    { action: 'run.undone', target: { id: undoes }, cause },
    {
      find: (tx) => findRunToChange(tx.em, undoes, true),
      act: async (tx, _caller, target) => {
        if (!target) throw new NothingToDo();
        await recordUndone(tx, target.run, runId);
        return { id: undoes, after: { undoneBy: runId }, revision: target.run.revision };
      },
    },
  );
}

function drifted(runId: string, addresses: readonly string[]): Problem {
  const [first = ''] = addresses;
  const others = addresses.length > 1 ? ` and ${addresses.length - 1} more` : '';
  const message = `the instance differs from its latest state (${withoutMisleading(first)}${others}): revert or adopt the drift, and check again`;
  return { code: 'drifted', message, runId };
}

function scanFailed(runId: string, { status, reason }: Ending): Problem {
  if (reason === 'gave_way')
    return { code: 'run_in_flight', message: 'another run began on the instance: let it end, and check again', runId };
  const message = `the scan of the instance ended as ${status}${inWords(reason)}: its log says more; check again`;
  return { code: 'scan_failed', message, runId };
}

/** The problem of a run whose plan was deleted, or that ended without a plan: its findings are not known. */
function withoutPlan(runId: string): Problem {
  return {
    code: 'scan_failed',
    message: `the run ${runId} left no plan, so nothing is known of the instance: check again`,
    runId,
  };
}

function planFailed(runId: string, { status, reason, detail }: Ending): Problem {
  return {
    code: 'plan_failed',
    message: `the plan of the candidate ended as ${status}${detail ? `: ${describeDetail(detail)}` : inWords(reason)}`,
    runId,
  };
}

function inWords(reason: Ending['reason']): string {
  return reason === null ? '' : ` (${statusReasons[reason]})`;
}

import type { Em } from '#database/database.ts';
import type { WorkerLiveness } from '#domain/workers/model.ts';
import { isOpenTo, type PoolAccess } from '#domain/workers/pools/model.ts';
import { poolAccessOfRunSql, workerLivenessSql } from '#domain/workers/run-sql.ts';
import { isApproval } from '../action-facts.ts';
import { type Run, RunAttempt } from '../entity.ts';
import type { StepFacts } from './next-step.ts';
import { findPlacement, type Placement } from './placement.ts';
import { findBlocker, type SlotLine, slotLineOfRun } from './slot.ts';

/** What the workflow knows that the database does not. */
export interface WorkflowFacts {
  /** The attempt that the workflow has just executed, or saw fail; null before the first. */
  readonly executed: string | null;
  /** Whether the workflow itself was canceled. */
  readonly canceled: boolean;
  /** Whether the last step was to wait for a silent worker. */
  readonly suspected?: boolean;
}

/** The facts of a run's next step, with the rows that carrying it out needs. */
export interface Situation {
  readonly facts: StepFacts;
  readonly attempt: RunAttempt | null;
  readonly stateSerial: number;
  /** Read only for a queued run, which begins only where a worker may take it. */
  readonly placement: Placement | null;
}

/** Reads the facts in one round trip. The caller has locked the run and its instance. */
export async function readSituation(em: Em, run: Run, workflow: WorkflowFacts): Promise<Situation> {
  const mayBegin = run.status === 'queued' && !workflow.canceled;
  const [row, attempt, placement] = await Promise.all([
    readFacts(em, run.id),
    run.attemptId ? em.findOne(RunAttempt, { id: run.attemptId }) : null,
    mayBegin ? findPlacement(em, run) : null,
  ]);
  const { executed, canceled, suspected = false } = workflow;
  const facts: StepFacts = {
    ...{ run, attempt, executed, canceled, suspected, now: new Date() },
    ...{ workerLiveness: row.worker_liveness, lostAttempts: row.lost_attempts, approvals: row.approvals },
    planIsCurrent: row.plan_serial === row.state_serial,
    poolIsOpen: isOpenTo(row.pool_access, run),
    blocker: row.slot_line && findBlocker(run.id, row.slot_line),
    hasWorker: typeof placement?.taskQueue === 'string',
  };
  return { facts, attempt, stateSerial: row.state_serial, placement };
}

interface FactsRow {
  state_serial: number;
  plan_serial: number | null;
  worker_liveness: WorkerLiveness | null;
  lost_attempts: number;
  approvals: number;
  pool_access: PoolAccess | null;
  slot_line: SlotLine | null;
}

async function readFacts(em: Em, runId: string): Promise<FactsRow> {
  const [row] = await em.execute<[FactsRow]>(
    `select i.state_serial, (select plan.state_serial from run_plans plan where plan.run_id = r.id) as plan_serial,
            case when a.outcome is null and a.worker_id is not null then ${workerLivenessSql('a.worker_id')} end as worker_liveness,
            (select count(*)::int from run_attempts lost
              where lost.run_id = r.id and lost.phase = a.phase and lost.outcome = 'lost') as lost_attempts,
            (select count(*)::int from run_reviews v where v.run_id = r.id and ${isApproval}) as approvals,
            case when r.status = 'queued' then ${poolAccessOfRunSql} end as pool_access,
            case when r.status = 'queued' and r.operation <> 'plan' then ${slotLineOfRun} end as slot_line
       from runs r join instances i on i.id = r.instance_id left join run_attempts a on a.id = r.attempt_id
      where r.id = ?`,
    [runId],
  );
  return row;
}

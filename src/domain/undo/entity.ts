import { defineEntity, p } from '@mikro-orm/core';
import { at, createdAt, id, revision } from '#database/columns.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { Masked } from '#domain/shared/values/masked.ts';
import type { PrincipalKind } from '#domain/shared/vocabulary/roles.ts';
import type { AttemptState, CheckState, Problem, ShownChange, Verdict } from './model.ts';

/** What an undo would deploy, with masked secrets. The real inputs are computed again from the runs whenever they are needed. */
export interface ShownCandidate {
  readonly digest: string;
  readonly version: string;
  readonly variables: Record<string, JsonValue | Masked>;
}

/** An attempt at undoing what one run changed. */
export const UndoAttemptSchema = defineEntity({
  name: 'UndoAttempt',
  tableName: 'selective_undo_attempts',
  indexes: [
    { name: 'selective_undo_attempts_run_id_index', properties: ['runId', 'id'] },
    {
      name: 'selective_undo_attempts_checking_index',
      expression: `create index "selective_undo_attempts_checking_index" on "selective_undo_attempts" ("instance_id") where "state" = 'checking'`,
    },
  ],
  properties: {
    id: id(),
    /** The run whose change it undoes. */
    runId: p.uuid(),
    instanceId: p.uuid(),
    state: p.string().$type<AttemptState>(),
    problem: p.json<Problem>().nullable(),
    verdicts: p.json<Verdict[]>(),
    changes: p.json<ShownChange[]>(),
    candidate: p.json<ShownCandidate>().nullable(),
    /**
     * The resources that the plan of the candidate touches but the plan of the undone run did not; null until a candidate check has passed.
     */
    collateral: p.json<string[]>().nullable(),
    /** The state and the deployment of the instance that was checked. */
    stateSerial: p.integer(),
    deployedRunId: p.uuid().nullable(),
    /** The scan that compares the instance with its state. */
    baselineRunId: p.uuid().nullable().unique(),
    promotedRunId: p.uuid().nullable().unique(),
    requestedById: p.uuid(),
    requestedByType: p.string().$type<PrincipalKind>(),
    requestedByName: p.string(),
    responsibleUserId: p.uuid().nullable(),
    revision: revision(),
    createdAt: createdAt(),
    /** When the check finished and the verdicts were stored. */
    checkedAt: at().nullable(),
  },
});
export class UndoAttempt extends UndoAttemptSchema.class {
  moveTo(state: AttemptState, problem: Problem | null = null): void {
    this.state = state;
    this.problem = problem;
    this.revision += 1;
  }
}
UndoAttemptSchema.setClass(UndoAttempt);

/** A plan of a candidate. */
export const CandidateCheckSchema = defineEntity({
  name: 'CandidateCheck',
  tableName: 'selective_undo_candidate_checks',
  indexes: [{ name: 'selective_undo_candidate_checks_attempt_id_index', properties: ['attemptId', 'id'] }],
  properties: {
    id: id(),
    attemptId: () => p.manyToOne(UndoAttempt).mapToPk().fieldName('attempt_id').deleteRule('restrict'),
    runId: p.uuid().unique(),
    state: p.string().$type<CheckState>(),
    problem: p.json<Problem>().nullable(),
    collateral: p.json<string[]>().nullable(),
    requestedById: p.uuid(),
    requestedByType: p.string().$type<PrincipalKind>(),
    requestedByName: p.string(),
    responsibleUserId: p.uuid().nullable(),
    createdAt: createdAt(),
    finishedAt: at().nullable(),
  },
});
export class CandidateCheck extends CandidateCheckSchema.class {}
CandidateCheckSchema.setClass(CandidateCheck);

import { z } from 'zod';
import { answerOf } from '#api/pipeline/fields.ts';
import { AnswerId, By, Time } from '#api/pipeline/schemas.ts';
import { Json } from '#domain/shared/values/json.ts';
import {
  attemptStates,
  checkStates,
  type Problem,
  problemCodes,
  type Verdict,
  verdictWords,
} from '#domain/undo/model.ts';
import type { AttemptDetails, CheckDetails } from '#domain/undo/store.ts';
import { attemptActions } from './actions.ts';

const codes = Object.keys(problemCodes) as [keyof typeof problemCodes, ...(keyof typeof problemCodes)[]];

const ProblemView = z
  .object({ code: z.enum(codes), message: z.string(), run_id: AnswerId.nullable() })
  .meta({ id: 'UndoProblem' });

const VerdictView = z
  .object({
    path: z.string().describe('A JSON pointer: `/version`, `/variables/size/cpu`, `/environment/AWS_REGION`.'),
    verdict: z.enum(verdictWords),
    cause: z
      .object({
        message: z.string(),
        run_id: AnswerId.nullable().describe('The later run that is in the way.'),
        run_undoable: z
          .boolean()
          .nullable()
          .describe(
            'Whether that run can be undone first, perhaps after others, as far as their inputs tell. Null: no run is in the way, or it is not known.',
          ),
        path: z
          .string()
          .nullable()
          .describe('The path that a later run put into an object which the undo would remove.'),
        addresses: z.array(z.string()).nullable().describe('The resources that differ from the state.'),
      })
      .nullable(),
  })
  .meta({ id: 'UndoVerdict' });

const ChangeView = z
  .object({
    path: z.string(),
    from: Json.optional().describe('The value that the run gave it. Missing: the run removed it.'),
    to: Json.optional().describe('The value before the run. Missing: there was none.'),
  })
  .meta({ id: 'UndoChange' });

/** An attempt in a list. */
export const ListedUndoAttemptView = z
  .object({
    id: AnswerId,
    run_id: AnswerId.describe('The run whose change it would undo.'),
    instance_id: AnswerId,
    state: z.enum(attemptStates),
    problem: ProblemView.nullable().describe(
      'Why the attempt cannot go on, or what was wrong at the last candidate check.',
    ),
    verdicts: z.array(VerdictView).describe('One for each path of the inputs that the run changed.'),
    changes: z.array(ChangeView).describe('What would be taken back. Secrets are masked.'),
    candidate: z
      .object({
        digest: z.string(),
        version: z.string(),
        variables: z.record(z.string(), Json),
        collateral: z
          .array(z.string())
          .nullable()
          .describe(
            'The resources that its plan touches and that of the run did not, and all whose address has a secret in it. Null: no candidate check has passed.',
          ),
      })
      .nullable()
      .describe('What would be deployed. Null: a path is not clean, or the inputs cannot be compared.'),
    state_serial: z.int().describe('The state of the instance that was checked.'),
    baseline_run_id: AnswerId.nullable().describe('The scan that compares the instance with its state.'),
    promoted_run_id: AnswerId.nullable(),
    requested_by: By,
    created_at: Time,
    checked_at: Time.nullable(),
    revision: z.int(),
  })
  .meta({ id: 'ListedUndoAttempt' });

/** A single attempt. */
export const UndoAttemptView = ListedUndoAttemptView.extend({ actions: attemptActions.view }).meta({
  id: 'UndoAttempt',
});

export const CandidateCheckView = z
  .object({
    id: AnswerId,
    run_id: AnswerId.describe('The run of the operation `plan` that planned the candidate.'),
    state: z.enum(checkStates),
    problem: ProblemView.nullable(),
    collateral: z.array(z.string()).nullable(),
    requested_by: By,
    created_at: Time,
    finished_at: Time.nullable(),
  })
  .meta({ id: 'CandidateCheck' });

export function toListedAttempt(attempt: AttemptDetails): z.input<typeof ListedUndoAttemptView> {
  const { candidate, collateral } = attempt;
  return answerOf(ListedUndoAttemptView.shape, {
    ...attempt,
    problem: toProblem(attempt.problem),
    verdicts: attempt.verdicts.map(toVerdict),
    candidate: candidate && { ...candidate, collateral },
    requestedBy: toActor(attempt),
  });
}

export function toCandidateCheck(check: CheckDetails): z.input<typeof CandidateCheckView> {
  return answerOf(CandidateCheckView.shape, {
    ...check,
    problem: toProblem(check.problem),
    requestedBy: toActor(check),
  });
}

function toProblem(problem: Problem | null) {
  return problem && { code: problem.code, message: problem.message, run_id: problem.runId };
}

function toVerdict({ path, verdict, cause }: Verdict): z.input<typeof VerdictView> {
  if (!cause) return { path, verdict, cause: null };
  const { message, runId = null, isUndoable = null, path: dependent = null, addresses } = cause;
  return {
    path,
    verdict,
    cause: {
      message,
      run_id: runId,
      run_undoable: isUndoable,
      path: dependent,
      addresses: addresses ? [...addresses] : null,
    },
  };
}

function toActor(row: Pick<AttemptDetails, 'requestedById' | 'requestedByType' | 'requestedByName'>) {
  return { type: row.requestedByType, id: row.requestedById, name: row.requestedByName };
}

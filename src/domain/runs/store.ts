import { type InferResult, sql } from 'kysely';
import { jsonObjectFrom } from 'kysely/helpers/postgres';
import type { Em } from '#database/database.ts';
import type { ParameterOf } from '#database/queries.ts';
import { db, type LookupById, prepare, prepareLookupById, prepareSelect } from '#domain/db.ts';
import { secretNamesByVersions } from '#domain/instances/secret-outputs.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import { listEventsOf } from '#domain/shared/events/subject-events-store.ts';
import type { PageRequest } from '#domain/shared/paging/paging.ts';
import type { RunOperation } from '#domain/shared/vocabulary/runs.ts';
import { actionsByStatus, type RunAction, type RunFacts, statusesThatAllow } from './actions.ts';
import { selectAdmissionFacts, toAdmissionFacts } from './admission/store.ts';
import { selectApprovalFacts, toApprovalFacts } from './approval/store.ts';
import { type OverRun, type RunDetails, selectRunDetails } from './details-store.ts';
import type { ReviewNeed } from './model.ts';
import { maskPlannedOutputs } from './plans/sections.ts';

/** A run and its owner. */
export interface RunTarget extends Ownership {
  readonly id: string;
  readonly isDeleted: boolean;
  readonly reviewNeeds: readonly ReviewNeed[];
}

/** A run with its owner, and with the facts on which its actions depend. */
export interface RunWithFacts extends RunTarget {
  readonly details: RunDetails;
  readonly facts: RunFacts;
  /** As `selectSuperseding`. */
  readonly supersededBy: SupersedingRun | null;
}

export interface SupersedingRun extends Ownership {
  readonly runId: string;
  readonly operation: RunOperation;
  readonly templateVersion: string;
}

/** Runs as `toRunWithFacts` takes them. */
export const selectRunsWithFacts = prepareSelect((queries) =>
  queries
    .selectFrom('runs')
    .leftJoin('teams as t', 't.id', 'runs.teamId')
    .select(selectRunDetails)
    .select((eb) => [
      't.organizationId',
      ifAllowed(eb, 'approve').then(selectApprovalFacts(eb)).end().as('approval'),
      ifAllowed(eb, 'requeue').then(selectAdmissionFacts(eb)).end().as('admission'),
      ifAllowed(eb, 'requeue').then(selectSuperseding(eb)).end().as('supersededBy'),
    ]),
);

export type RunRow = InferResult<ReturnType<typeof selectRunsWithFacts>>[number];

/** Facts are looked up only if the status of the run makes them relevant. */
function ifAllowed(eb: OverRun, action: RunAction) {
  return eb.case().when('runs.status', 'in', statusesThatAllow(action));
}

/** A run with its owner, without the facts that `addFacts` adds. */
export const findRunDetails = prepareLookupById((db, id) =>
  db
    .selectFrom('runs')
    .leftJoin('teams as t', 't.id', 'runs.teamId')
    .where('runs.id', '=', id)
    .select(selectRunDetails)
    .select('t.organizationId'),
);

type RunRowWithoutFacts = NonNullable<Awaited<ReturnType<typeof findRunDetails>>>;

/** The facts on which the actions depend that some statuses allow. */
const selectFacts = {
  approve: prepare((db, parameter: ParameterOf<{ id: string }>) =>
    db
      .selectFrom('runs')
      .where('runs.id', '=', parameter('id'))
      .select((eb) => selectApprovalFacts(eb).as('approval')),
  ),
  requeue: prepare((db, parameter: ParameterOf<{ id: string }>) =>
    db
      .selectFrom('runs')
      .where('runs.id', '=', parameter('id'))
      .select((eb) => [selectAdmissionFacts(eb).as('admission'), selectSuperseding(eb).as('supersededBy')]),
  ),
};

/**
 * Reads one run. Clients poll an unfinished run, for which one short statement is enough. PostgreSQL then does not prepare the long
 * statement that also reads the facts.
 */
export async function readRun(em: Em, id: string): Promise<RunWithFacts | undefined> {
  const row = await findRunDetails(em, id);
  return row && addFacts(em, row);
}

/** Reads the facts on which the actions depend that the status of a run allows. */
export async function addFacts(em: Em, row: RunRowWithoutFacts): Promise<RunWithFacts> {
  const { id } = row;
  const allowed = actionsByStatus[row.status];
  const [{ approval = null } = {}] = allowed.includes('approve') ? await selectFacts.approve(em, { id }) : [];
  const [{ admission = null, supersededBy = null } = {}] = allowed.includes('requeue')
    ? await selectFacts.requeue(em, { id })
    : [];
  return toRunWithFacts({ ...row, approval, admission, supersededBy });
}

export function toRunWithFacts(row: RunRow): RunWithFacts {
  const { organizationId, approval, admission, supersededBy, ...details } = row;
  const isDeleted = details.deletedAt !== null;
  const facts = {
    status: details.status,
    operation: details.operation,
    isDeleted,
    toolSwitch: details.toolSwitch,
    approval: approval && toApprovalFacts(approval),
    admission: admission && toAdmissionFacts(admission),
  };
  const { id, teamId, reviewNeeds } = details;
  return { id, teamId, organizationId, isDeleted, reviewNeeds, details, facts, supersededBy };
}

/** A run and its owner. A deleted run keeps its lineage, and so can still be read. */
export const findRun: LookupById<RunTarget> = prepareLookupById((db, id) =>
  db
    .selectFrom('runs')
    .leftJoin('teams as t', 't.id', 'runs.teamId')
    .where('runs.id', '=', id)
    .select((eb) => [
      'runs.id',
      'runs.teamId',
      't.organizationId',
      eb('runs.deletedAt', 'is not', null).$castTo<boolean>().as('isDeleted'),
      'runs.reviewNeeds',
    ]),
);

/** A page of the events of a run after a number, beginning with its admission. */
export function listEvents(em: Em, runId: string, after: number, page: PageRequest) {
  return listEventsOf(em, { kind: 'run', id: runId }, after, page);
}

/** The plan of a run, without what applying it needs. */
export async function readPlan(em: Em, runId: string) {
  const row = await db(em)
    .selectFrom('run_plans')
    .where('runId', '=', runId)
    .select(['digest', 'stateSerial', 'changes', 'sections', 'createdAt'])
    .select(({ ref }) => secretNamesByVersions(ref('run_plans.runId')).as('secret'))
    .executeTakeFirst();
  if (!row) return undefined;
  const { secret, sections, ...plan } = row;
  return { ...plan, sections: maskPlannedOutputs(sections, secret) };
}

/** A plan in the form of the API. */
export type PlanDetails = NonNullable<Awaited<ReturnType<typeof readPlan>>>;

/** How far a run and its log have come. */
export function readProgress(em: Em, id: string) {
  return db(em)
    .selectFrom('runs')
    .where('runs.id', '=', id)
    .select((eb) => ['runs.status', 'runs.createdAt', selectLastSequence(eb).as('lastSequence')])
    .executeTakeFirst();
}

/** The number of the last chunk in the log of a run; 0 if the log is empty. */
export function selectLastSequence(eb: OverRun) {
  const last = eb
    .selectFrom('run_log_chunks as chunk')
    .whereRef('chunk.runId', '=', 'runs.id')
    .whereRef('chunk.time', '>=', 'runs.createdAt')
    .select((of) => of.fn.max('chunk.sequence').as('last'));
  return eb.fn.coalesce(last.$asScalar(), eb.lit(0));
}

/**
 * The newer run that has deployed the instance of an ended apply since, or has destroyed it: a requeue of the apply would replace that.
 * Null if there is none. It may belong to another team, which not every reader of the apply may read.
 */
function selectSuperseding(eb: OverRun) {
  return jsonObjectFrom(
    eb
      .selectFrom('instances as si')
      .innerJoin('runs as newer', 'newer.id', 'si.deployedRunId')
      .leftJoin('teams as nt', 'nt.id', 'newer.teamId')
      .whereRef('si.id', '=', 'runs.instanceId')
      .where('si.deletedAt', 'is', null)
      .whereRef('newer.id', '<>', 'runs.id')
      .whereRef('newer.finishedAt', '>', 'runs.finishedAt')
      .where(sql<boolean>`${eb.ref('runs.operation')} = 'apply'`)
      .select(['newer.id as runId', 'newer.operation', 'newer.templateVersion'])
      .select(['newer.teamId', 'nt.organizationId']),
  );
}

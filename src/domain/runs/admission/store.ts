import type { Insertable } from 'kysely';
import { jsonBuildObject, jsonObjectFrom } from 'kysely/helpers/postgres';
import type { ParameterOf } from '#database/queries.ts';
import { prepare } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import { freeIsolationFor, poolAccessOfRun } from '#domain/workers/placement-store.ts';
import { type OverRun, selectRunDetails } from '../details-store.ts';
import type { AdmissionFacts } from './rules.ts';
import { toTarget } from './target.ts';
import { selectTargetOf, type TargetRow } from './target-store.ts';

/** The columns that a run's origin fills. */
const originColumns = [
  'assemblyRunId',
  'assemblyNodeId',
  'driftFindingId',
  'driftMonitorId',
  'undoes',
  'startedByRunId',
  'parentWorkflowId',
  'authors',
  'reviewNeeds',
  'expectedStateSerial',
  'expectedDeployedRunId',
  'expectedPlanRunId',
] as const;

/** The columns that admission fills; a new run has the defaults of the table in the others. */
const admittedColumns = [
  'id',
  'idempotencyKey',
  'status',
  'phase',
  'waitingOn',
  'operation',
  'replace',
  'options',
  'teamId',
  'projectId',
  'environmentId',
  'instanceId',
  'instance',
  'instancePosition',
  'templateId',
  'templateVersionId',
  'templateVersion',
  'pool',
  'toolDemand',
  'toolSwitch',
  'variables',
  'variableSources',
  'reads',
  'variableResets',
  'sealedInputs',
  'message',
  'requestedById',
  'requestedByType',
  'requestedByName',
  'credentialId',
  'responsibleUserId',
  'retrySafe',
  'timeouts',
  'approvalRequired',
  'approvalWhen',
  'approvalAllowSelf',
  'outputs',
  'requeuedFrom',
  ...originColumns,
  'createdAt',
] as const;

export type NewRunRow = Required<Pick<Insertable<Tables['runs']>, (typeof admittedColumns)[number]>>;

/** Inserts a run and returns its details, the `PoolAccess` of its pool, and the isolation of workers that can probably begin it at once. */
export const insertRun = prepare((db, parameter: ParameterOf<NewRunRow>) => {
  const values = Object.fromEntries(admittedColumns.map((column) => [column, parameter(column)]));
  return db
    .insertInto('runs')
    .values(values as NewRunRow)
    .returning(selectRunDetails)
    .returning((eb) => [poolAccessOfRun(eb).as('poolAccess'), freeIsolationFor(eb).as('freeIsolation')]);
});

/** The facts that decide whether a run can be requeued or copied, for `toAdmissionFacts`. */
export function selectAdmissionFacts(eb: OverRun) {
  const occupant = eb
    .selectFrom('instances as i')
    .whereRef('i.environmentId', '=', 'runs.environmentId')
    .whereRef('i.name', '=', 'runs.instance')
    .select(['i.templateId', 'i.resourceCount']);
  return jsonBuildObject({
    target: selectTargetOf(eb),
    instance: eb.ref('runs.instance'),
    occupant: jsonObjectFrom(occupant),
    pool: jsonBuildObject({ name: eb.ref('runs.pool'), access: poolAccessOfRun(eb) }),
  });
}

interface AdmissionFactsRow extends Omit<AdmissionFacts, 'target'> {
  readonly target: TargetRow | null;
}

export function toAdmissionFacts({ target, ...facts }: AdmissionFactsRow): AdmissionFacts {
  return { ...facts, target: (target && toTarget(target)) ?? null };
}

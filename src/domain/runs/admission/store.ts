import type { Insertable } from 'kysely';
import { jsonBuildObject, jsonObjectFrom } from 'kysely/helpers/postgres';
import type { ParameterOf } from '#database/queries.ts';
import { prepare } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import { poolAccessOfRun } from '#domain/workers/placement-store.ts';
import { type OverRun, selectRunDetails } from '../details-store.ts';
import type { AdmissionFacts } from './rules.ts';
import { toTarget } from './target.ts';
import { selectTargetOf, type TargetRow } from './target-store.ts';

/** The columns that a run's origin fills. */
const originColumns = [
  'assembly_run_id',
  'assembly_node_id',
  'drift_finding_id',
  'drift_monitor_id',
  'undoes',
  'started_by_run_id',
  'parent_workflow_id',
  'authors',
  'review_needs',
  'expected_state_serial',
  'expected_deployed_run_id',
  'expected_plan_run_id',
] as const;

/** The columns that admission fills; a new run has the defaults of the table in the others. */
const admittedColumns = [
  'id',
  'idempotency_key',
  'status',
  'phase',
  'waiting_on',
  'operation',
  'replace',
  'options',
  'team_id',
  'project_id',
  'environment_id',
  'instance_id',
  'instance',
  'instance_position',
  'template_id',
  'template_version_id',
  'template_version',
  'pool',
  'tool_demand',
  'tool_switch',
  'variables',
  'variable_sources',
  'reads',
  'variable_resets',
  'sealed_inputs',
  'message',
  'requested_by_id',
  'requested_by_type',
  'requested_by_name',
  'credential_id',
  'responsible_user_id',
  'retry_safe',
  'timeouts',
  'approval_required',
  'approval_when',
  'approval_allow_self',
  'outputs',
  'requeued_from',
  ...originColumns,
  'created_at',
] as const;

export type NewRunRow = Required<Pick<Insertable<Tables['runs']>, (typeof admittedColumns)[number]>>;

/** Inserts a run and returns its details. */
export const insertRun = prepare((db, parameter: ParameterOf<NewRunRow>) => {
  const values = Object.fromEntries(admittedColumns.map((column) => [column, parameter(column)]));
  return db
    .insertInto('runs')
    .values(values as NewRunRow)
    .returning(selectRunDetails);
});

/** The facts that decide whether a run can be requeued or copied, for `toAdmissionFacts`. */
export function selectAdmissionFacts(eb: OverRun) {
  const occupant = eb
    .selectFrom('instances as i')
    .whereRef('i.environment_id', '=', 'runs.environment_id')
    .whereRef('i.name', '=', 'runs.instance')
    .select(['i.template_id as templateId', 'i.resource_count as resourceCount']);
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

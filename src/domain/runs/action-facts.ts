import type { Em } from '#database/database.ts';
import type { PoolAccess } from '#domain/workers/pools/model.ts';
import { poolAccessOfRunSql } from '#domain/workers/run-sql.ts';
import { type RunAction, type RunFacts, statusesThatAllow } from './actions.ts';
import type { Occupant } from './admission/rules.ts';
import { admissionTargetOfRun, type TargetRow, toTarget } from './admission/target.ts';
import type { ApprovalFacts } from './approval/rules.ts';
import type { RunStatus } from './model.ts';

/** Whether a row `v` of reviews approves the plan with which a row `r` of runs waits. */
export const isApproval = `(v.decision = 'approve' and v.plan_digest = r.plan_digest)`;

/** `ApprovalFacts` of a row `r` of runs, as an SQL expression. */
const approvalFacts = `(
  with recursive repeated as (
    select r.requeued_from, r.responsible_user_id, r.requested_by_id, r.template_version_id
    union all
    select former.requeued_from, former.responsible_user_id, former.requested_by_id, former.template_version_id
      from runs former join repeated on former.id = repeated.requeued_from)
  select jsonb_build_object(
      'planDigest', r.plan_digest, 'required', r.approval_required, 'allowSelf', r.approval_allow_self,
      'expiresAt', r.approval_expires_at, 'templateVersion', r.template_version,
      'requesters', jsonb_agg(jsonb_build_object('person', repeated.responsible_user_id, 'id', repeated.requested_by_id)),
      'publishers', jsonb_agg(jsonb_build_object('person', version.responsible_user_id, 'id', version.published_by)),
      'reviews', (select coalesce(jsonb_agg(jsonb_build_object('person', v.responsible_user_id, 'isApproval', ${isApproval})), '[]')
                    from run_reviews v where v.run_id = r.id))
    from repeated left join template_versions version on version.id = repeated.template_version_id)`;

/** `AdmissionRow` of a row `r` of runs. An instance without an environment belongs to the template itself. */
const admissionFacts = `jsonb_build_object(
  'target', ${admissionTargetOfRun}, 'instance', r.instance, 'poolName', r.pool, 'poolAccess', ${poolAccessOfRunSql},
  'occupant', (select jsonb_build_object('template_id', i.template_id, 'resource_count', i.resource_count)
                 from instances i where i.environment_id = r.environment_id and i.name = r.instance))`;

/** `FactsRow` of a row `r` of runs, as an SQL expression. It looks up only what the run's status makes relevant. */
export const runFacts = `jsonb_build_object(
  'approval', case when ${allows('approve')} then ${approvalFacts} end,
  'admission', case when ${allows('requeue')} then ${admissionFacts} end)`;

function allows(action: RunAction): string {
  return `r.status in (${statusesThatAllow(action)
    .map((status) => `'${status}'`)
    .join(', ')})`;
}

interface AdmissionRow {
  readonly target: TargetRow | null;
  readonly instance: string;
  readonly poolName: string;
  readonly poolAccess: PoolAccess | null;
  readonly occupant: Occupant | null;
}

export interface FactsRow {
  readonly approval: ApprovalFacts | null;
  readonly admission: AdmissionRow | null;
}

export function toRunFacts(status: RunStatus, { approval, admission }: FactsRow): RunFacts {
  return { status, approval, admission: admission && toAdmissionFacts(admission) };
}

function toAdmissionFacts({ target, instance, occupant, poolName, poolAccess }: AdmissionRow) {
  const pool = { name: poolName, access: poolAccess };
  return { target: (target && toTarget(target)) ?? null, instance, occupant, pool };
}

/** The facts of a run that was admitted just now. */
export function factsOfNewRun(status: RunStatus): RunFacts {
  return { status, approval: null, admission: null };
}

/** The facts on which a review depends. The caller has locked the run, so no other review comes between. */
export async function readApprovalFacts(em: Em, runId: string): Promise<ApprovalFacts> {
  const [row] = await em.execute<[{ facts: ApprovalFacts }]>(
    `select ${approvalFacts} as facts from runs r where r.id = ?`,
    [runId],
  );
  return row.facts;
}

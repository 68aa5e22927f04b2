import { sql } from 'kysely';
import { jsonBuildObject } from 'kysely/helpers/postgres';
import type { Over } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import type { ApprovalRule } from '#domain/shared/vocabulary/approval.ts';

type OverRun = Over<{ runs: 'runs' }>;

/** The columns in which environments and runs store a policy. */
type PolicyColumn = keyof Tables['environments'] & keyof Tables['runs'] & `approval${string}`;

/** The `ApprovalPolicy` of the environment or run that a statement calls by an alias. */
export function selectPolicy(alias: string) {
  const column = <Value>(name: PolicyColumn) => sql.ref<Value>(`${alias}.${name}`);
  return jsonBuildObject({
    required: column<number>('approvalRequired'),
    when: column<ApprovalRule>('approvalWhen'),
    allow_self: column<boolean>('approvalAllowSelf'),
  });
}

/** The `ApprovalPolicy` with which a run was admitted. */
export function selectAdmittedPolicy() {
  return selectPolicy('runs');
}

/** The `ApprovalPolicy` that the environment of a run has now; null for a run without an environment. */
export function selectEnvironmentPolicy(eb: OverRun) {
  return eb
    .selectFrom('environments as e')
    .whereRef('e.id', '=', 'runs.environmentId')
    .select(selectPolicy('e').as('policy'))
    .$asScalar();
}

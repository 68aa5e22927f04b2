import { jsonBuildObject } from 'kysely/helpers/postgres';
import type { Over } from '#domain/db.ts';

type OverRun = Over<{ runs: 'runs' }>;

/** The `ApprovalPolicy` with which a run was admitted. */
export function selectAdmittedPolicy(eb: OverRun) {
  return jsonBuildObject({
    required: eb.ref('runs.approval_required'),
    when: eb.ref('runs.approval_when'),
    allow_self: eb.ref('runs.approval_allow_self'),
  });
}

/** The `ApprovalPolicy` that the environment of a run has now; null for a run without an environment. */
export function selectEnvironmentPolicy(eb: OverRun) {
  return eb
    .selectFrom('environments as e')
    .whereRef('e.id', '=', 'runs.environment_id')
    .select((of) =>
      jsonBuildObject({
        required: of.ref('e.approval_required'),
        when: of.ref('e.approval_when'),
        allow_self: of.ref('e.approval_allow_self'),
      }).as('policy'),
    )
    .$asScalar();
}

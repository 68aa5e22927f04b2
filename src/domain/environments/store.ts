import type { Em } from '#database/database.ts';
import { findRow, lockClause, type RowLock } from '#database/row-lock.ts';
import type { ApprovalRule } from '#domain/runs/model.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import { type Archivable, tenancy } from '#domain/tenancy/archiving.ts';
import type { DemandedIsolation } from '#domain/workers/model.ts';
import type { EnvironmentKind } from './model.ts';

/** An environment with all that owns it; `archived` names every level of them that is archived, outermost first. */
export interface EnvironmentTarget extends Ownership, Archivable {
  readonly id: string;
  readonly organizationId: string;
  readonly teamId: string;
  readonly projectId: string;
  readonly name: string;
  readonly slug: string;
  readonly kind: EnvironmentKind;
  readonly approvalRequired: number;
  readonly approvalWhen: ApprovalRule;
  readonly approvalAllowSelf: boolean;
  readonly ttlSeconds: number | null;
  /** What a worker must have to execute its runs; null: nothing. */
  readonly isolation: DemandedIsolation;
  readonly eligibilityGeneration: number;
  readonly revision: number;
  readonly createdAt: string;
  readonly archivedAt: string | null;
}

const environments = tenancy('environment');

/** Every environment there is; a list adds its conditions on `o`, `t`, `p` and `e`. */
export const selectEnvironments = `
  select e.id, o.id as "organizationId", t.id as "teamId", p.id as "projectId", e.name, e.slug, e.kind,
         e.approval_required as "approvalRequired", e.approval_when as "approvalWhen",
         e.approval_allow_self as "approvalAllowSelf", e.ttl_seconds as "ttlSeconds", e.isolation,
         e.eligibility_generation as "eligibilityGeneration", e.revision, e.created_at as "createdAt",
         e.archived_at as "archivedAt", ${environments.archived}
    from organizations o join teams t on t.organization_id = o.id join projects p on p.team_id = t.id
         join environments e on e.project_id = p.id
   where ${environments.present}`;

/** An environment by its id, locked with its owners where asked; undefined where it, or what owns it, is gone. */
export async function findEnvironment(
  em: Em,
  id: string,
  lock: RowLock = false,
): Promise<EnvironmentTarget | undefined> {
  return findRow(em, lock, `${selectEnvironments} and e.id = ?${lockClause(environments.aliases, lock)}`, [id]);
}

/** The same for a run's admission: it and all its owners are shared until the commit, so that none is archived meanwhile. */
export function lockEnvironmentForRun(em: Em, environmentId: string): Promise<EnvironmentTarget | undefined> {
  return findEnvironment(em, environmentId, true);
}

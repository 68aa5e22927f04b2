import type { Em } from '#database/database.ts';
import type { ProjectTarget } from '#domain/projects/store.ts';
import { type ApprovalPolicy, isWeakerApproval, stricterApproval } from '#domain/registry/model.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { refuseArchived } from '#domain/shared/archiving.ts';
import { Forbidden } from '#domain/shared/errors.ts';
import { newId } from '#domain/shared/ids.ts';
import { reportingSlugConflict } from '#domain/shared/ownership-graph/slugs.ts';
import { type Difference, findDifference, readBack, refuseStale } from '#domain/shared/revisions.ts';
import { chooseSlug } from '#domain/tenancy/slugs.ts';
import { defaultApproval, type EnvironmentChange, type NewEnvironment } from './model.ts';
import { mayWeakenPolicy } from './policy.ts';
import {
  type EnvironmentFields,
  type EnvironmentTarget,
  findEnvironment,
  insertEnvironment,
  saveEnvironment,
} from './store.ts';

/** Makes an environment of a project. Without an approval policy, it gets its kind's. */
export async function createEnvironment(
  em: Em,
  project: ProjectTarget,
  request: NewEnvironment,
): Promise<EnvironmentTarget> {
  refuseArchived(project);
  const id = newId();
  const slug = chooseSlug(request);
  const { name, kind, approvalPolicy = defaultApproval[kind], ttlSeconds = null, isolation = null } = request;
  const fields = { name, slug, kind, ...policyFields(approvalPolicy), ttlSeconds, isolation };
  await reportingSlugConflict('environment', slug, () =>
    insertEnvironment(em, { id, projectId: project.id, ...fields }),
  );
  return readBack(findEnvironment(em, id));
}

/**
 * Changes an environment.
 * @throws Forbidden if the change weakens the environment's protection and the caller may not do that
 * @throws Conflict for a stale revision, something archived, or a slug that is taken
 */
export async function updateEnvironment(
  em: Em,
  principal: Principal,
  environment: EnvironmentTarget,
  request: EnvironmentChange,
): Promise<{ updated: EnvironmentTarget; difference: Difference<EnvironmentFields> }> {
  const { expectedRevision, approvalPolicy: _, ...wanted } = request;
  const policy = choosePolicy(environment, request);
  const difference = findDifference<EnvironmentFields>(describeEnvironment(environment), {
    ...wanted,
    ...(policy && policyFields(policy)),
  });
  refuseWeakening(principal, environment, { ...environment, ...difference.after });
  refuseArchived(environment);
  refuseStale(environment, expectedRevision);
  if (difference.isEmpty) return { updated: environment, difference };
  const { after } = difference;
  await reportingSlugConflict('environment', after.slug ?? environment.slug, () =>
    saveEnvironment(em, environment, after),
  );
  return { updated: await readBack(findEnvironment(em, environment.id)), difference };
}

/** The fields that a request may change, as they are now. */
export function describeEnvironment(environment: EnvironmentTarget): EnvironmentFields {
  const { name, slug, kind, approvalRequired, approvalWhen, approvalAllowSelf, ttlSeconds, isolation } = environment;
  return { name, slug, kind, approvalRequired, approvalWhen, approvalAllowSelf, ttlSeconds, isolation };
}

/** An environment that becomes production gets at least production's approval, unless the request names another policy. */
function choosePolicy(
  environment: EnvironmentTarget,
  { kind, approvalPolicy }: EnvironmentChange,
): ApprovalPolicy | undefined {
  if (approvalPolicy || kind !== 'production' || environment.kind === 'production') return approvalPolicy;
  return stricterApproval(defaultApproval.production, policyOf(environment));
}

/** An admin of the team may not weaken an environment's protection (`mayWeakenPolicy`). @throws Forbidden */
function refuseWeakening(principal: Principal, environment: EnvironmentTarget, after: EnvironmentFields): void {
  const weakened = findWeakened(environment, after);
  if (weakened === null || mayWeakenPolicy(principal, environment)) return;
  throw new Forbidden(
    `permission denied: ${weakened.field}: only an owner of the team, or an admin of the team who is also an owner or admin of its organization, may ${weakened.change}`,
  );
}

function findWeakened(before: EnvironmentFields, after: EnvironmentFields): { field: string; change: string } | null {
  if (after.kind !== before.kind) return { field: 'kind', change: 'change it' };
  if (isWeakerApproval(policyOf(after), policyOf(before))) return { field: 'approval_policy', change: 'weaken it' };
  if (before.isolation !== null && after.isolation === null) {
    return { field: 'isolation', change: 'end the demand for a sandbox' };
  }
  return null;
}

function policyOf({ approvalRequired, approvalWhen, approvalAllowSelf }: EnvironmentFields): ApprovalPolicy {
  return { required: approvalRequired, when: approvalWhen, allow_self: approvalAllowSelf };
}

function policyFields({ required, when, allow_self: allowSelf }: ApprovalPolicy) {
  return { approvalRequired: required, approvalWhen: when, approvalAllowSelf: allowSelf };
}

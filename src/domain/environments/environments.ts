import type { z } from 'zod';
import type { Em } from '#database/database.ts';
import { mayWeakenPolicy } from '#domain/members/grants.ts';
import type { ProjectTarget } from '#domain/projects/store.ts';
import { type ApprovalPolicy, isWeakerApproval, stricterApproval } from '#domain/registry/model.ts';
import { readableTeamsSql } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { parseDuration } from '#domain/shared/durations.ts';
import { Forbidden } from '#domain/shared/errors.ts';
import { newId } from '#domain/shared/ids.ts';
import { selectPage } from '#domain/shared/list.ts';
import { underSlug } from '#domain/shared/ownership-graph/slugs.ts';
import { type Page, type PageRequest, Where } from '#domain/shared/paging.ts';
import { type Difference, findDifference, readBack, refuseStale } from '#domain/shared/revisions.ts';
import { type ArchivedFilter, filterArchived, refuseArchived } from '#domain/tenancy/archiving.ts';
import { chooseSlug } from '#domain/tenancy/slugs.ts';
import { Environment } from './entity.ts';
import { type CreateEnvironment, defaultApproval, type UpdateEnvironment } from './model.ts';
import { type EnvironmentTarget, findEnvironment, selectEnvironments } from './store.ts';

type Fields = Pick<
  EnvironmentTarget,
  'name' | 'slug' | 'kind' | 'approvalRequired' | 'approvalWhen' | 'approvalAllowSelf' | 'ttlSeconds' | 'isolation'
>;

/** Makes an environment of a project; without a policy, that of its kind holds. */
export async function createEnvironment(
  em: Em,
  project: ProjectTarget,
  request: z.output<typeof CreateEnvironment>,
): Promise<EnvironmentTarget> {
  refuseArchived(project);
  const id = newId();
  const slug = chooseSlug(request);
  const { name, kind, approval_policy: policy = defaultApproval[kind], ttl = null, isolation = null } = request;
  const fields = { name, slug, kind, ...policyFields(policy), ttlSeconds: secondsOf(ttl), isolation };
  const environment = em.create(Environment, { id, projectId: project.id, ...fields });
  await underSlug('environment', slug, () => em.persist(environment).flush());
  return readBack(findEnvironment(em, id));
}

/**
 * Changes an environment.
 * @throws Forbidden where the caller may not weaken what protects the environment
 * @throws Conflict for a stale revision, something archived, or a slug that is taken
 */
export async function updateEnvironment(
  em: Em,
  principal: Principal,
  environment: EnvironmentTarget,
  request: z.output<typeof UpdateEnvironment>,
): Promise<{ updated: EnvironmentTarget; difference: Difference<Fields> }> {
  const { expected_revision: expected, approval_policy: _, ttl, ...wanted } = request;
  const policy = choosePolicy(environment, request);
  const difference = findDifference<Fields>(describeEnvironment(environment), {
    ...wanted,
    ...(policy && policyFields(policy)),
    ...(ttl !== undefined && { ttlSeconds: secondsOf(ttl) }),
  });
  refuseWeakening(principal, environment, { ...environment, ...difference.after });
  refuseArchived(environment);
  refuseStale(environment, expected);
  if (difference.isEmpty) return { updated: environment, difference };
  const { after } = difference;
  await underSlug('environment', after.slug ?? environment.slug, () =>
    em.nativeUpdate(Environment, { id: environment.id }, { ...after, revision: environment.revision + 1 }),
  );
  return { updated: await readBack(findEnvironment(em, environment.id)), difference };
}

/** The environments of the teams that the principal may read, of one team, or of one project. */
export function listEnvironments(
  em: Em,
  principal: Principal,
  request: PageRequest & ArchivedFilter & { team_id?: string | undefined; project_id?: string | undefined },
): Promise<Page<EnvironmentTarget>> {
  const readable = readableTeamsSql(principal, 't.id', 'hidden');
  const where = filterArchived(new Where(), 'environment', request)
    .and(readable.sql, ...readable.params)
    .andIf(request.team_id, 't.id = ?')
    .andIf(request.project_id, 'p.id = ?');
  return selectPage(em, selectEnvironments, where, 'e.id', request);
}

/** What may be changed about an environment, as it is. */
export function describeEnvironment(environment: EnvironmentTarget): Fields {
  const { name, slug, kind, approvalRequired, approvalWhen, approvalAllowSelf, ttlSeconds, isolation } = environment;
  return { name, slug, kind, approvalRequired, approvalWhen, approvalAllowSelf, ttlSeconds, isolation };
}

/** What becomes production has no less approval than production asks, unless the request says so by name. */
function choosePolicy(
  environment: EnvironmentTarget,
  { kind, approval_policy: policy }: z.output<typeof UpdateEnvironment>,
): ApprovalPolicy | undefined {
  if (policy || kind !== 'production' || environment.kind === 'production') return policy;
  return stricterApproval(defaultApproval.production, policyOf(environment));
}

/** What protects an environment is given up by those above its team's admins. @throws Forbidden */
function refuseWeakening(principal: Principal, environment: EnvironmentTarget, after: Fields): void {
  const weakened = findWeakened(environment, after);
  if (weakened === null || mayWeakenPolicy(principal, environment)) return;
  throw new Forbidden(
    `permission denied: ${weakened} takes an owner of the team, or an admin of the team who is an owner or admin of its organization as well`,
  );
}

function findWeakened(before: Fields, after: Fields): string | null {
  if (after.kind !== before.kind) return 'kind: changing it';
  if (isWeakerApproval(policyOf(after), policyOf(before))) return 'approval_policy: weakening it';
  if (before.isolation !== null && after.isolation === null) return 'isolation: ending the demand for a sandbox';
  return null;
}

function policyOf({ approvalRequired, approvalWhen, approvalAllowSelf }: Fields): ApprovalPolicy {
  return { required: approvalRequired, when: approvalWhen, allow_self: approvalAllowSelf };
}

function policyFields({ required, when, allow_self: allowSelf }: ApprovalPolicy) {
  return { approvalRequired: required, approvalWhen: when, approvalAllowSelf: allowSelf };
}

/** The text has been checked to be a duration. */
function secondsOf(duration: string | null): number | null {
  return duration === null ? null : parseDuration(duration);
}

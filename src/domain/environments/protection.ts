import type { SettingsDocument } from '#domain/settings/document.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Forbidden } from '#domain/shared/errors.ts';
import type { Difference } from '#domain/shared/revisions.ts';
import {
  type ApprovalPolicy,
  isWeakerApproval,
  policyFields,
  policyOf,
  stricterApproval,
  strictestPolicy,
  toPolicyFields,
} from '#domain/shared/vocabulary/approval.ts';
import { allowedOptions } from '#domain/shared/vocabulary/run-options.ts';
import { mayWeakenPolicy, whoMayWeaken } from '#domain/tenancy/policy.ts';
import {
  defaultApproval,
  type EnvironmentChange,
  type EnvironmentKind,
  type Protection,
  protections,
} from './model.ts';
import type { EnvironmentFields, EnvironmentTarget } from './store.ts';

/**
 * Rules for the protections of an environment: its kind, its approval policy, the isolation that it demands, the options that runs may use,
 * and the secrets that planning may get.
 */

/**
 * The policy after a change; undefined if it does not change. Omitted members stay, but an environment that becomes production gets at
 * least production's approval.
 */
export function choosePolicy(
  environment: EnvironmentTarget,
  { kind, approvalPolicy }: EnvironmentChange,
): ApprovalPolicy | undefined {
  const becomesProduction = kind === 'production' && environment.kind !== 'production';
  if (!approvalPolicy && !becomesProduction) return undefined;
  const present = policyOf(environment);
  const kept = becomesProduction ? stricterApproval(defaultApproval.production, present) : present;
  const { required = kept.required, when = kept.when, allow_self = kept.allow_self } = approvalPolicy ?? {};
  return { required, when, allow_self };
}

/** The policy of a new environment that states none. Production always gets at least the approval of its kind. */
export function usualPolicy(kind: EnvironmentKind, { default_approval_policy: set }: SettingsDocument): ApprovalPolicy {
  if (set === undefined) return defaultApproval[kind];
  return kind === 'production' ? strictestPolicy(set, defaultApproval.production) : set;
}

const weakenings: Record<Protection, string> = {
  kind: 'change it',
  approval_policy: 'weaken it',
  isolation: 'end the demand for a sandbox',
  allowed_options: 'allow more options',
  plan_secrets: 'end the demand for weaker secrets while planning',
};

/** An admin of the team may not weaken an environment's protection (`mayWeakenPolicy`). @throws Forbidden */
export function refuseWeakening(
  principal: Principal,
  owner: Ownership,
  before: EnvironmentFields,
  after: EnvironmentFields,
): void {
  const [weakened] = findWeakened(before, after);
  if (weakened === undefined || mayWeakenPolicy(principal, owner)) return;
  throw new Forbidden(`permission denied: ${weakened}: ${whoMayWeaken} may ${weakenings[weakened]}`);
}

/**
 * Refuses a new production environment with less than production's approval, unless the principal may weaken policies: otherwise somebody
 * could delete an environment and create it again. @throws Forbidden
 */
export function refuseWeakProduction(principal: Principal, owner: Ownership, created: EnvironmentFields): void {
  if (created.kind !== 'production') return;
  const usual = { ...created, ...toPolicyFields(defaultApproval.production) };
  refuseWeakening(principal, owner, usual, created);
}

/** Whether a change of an environment changes its approval policy, which its runs show. */
export function changesPolicy({ after }: Difference<EnvironmentFields>): boolean {
  return policyFields.some((field) => after[field] !== undefined);
}

/** Publishes how a change of an environment affects its protection, if it does. The caller has locked the row. */
export function publishProtection(
  tx: Transaction,
  environment: EnvironmentTarget,
  { after: changes }: Difference<EnvironmentFields>,
): void {
  const protecting = ['kind', ...policyFields, 'isolation', 'allowedOptions', 'planSecrets'] as const;
  if (!protecting.some((field) => changes[field] !== undefined)) return;
  const { id: subjectId, organizationId, teamId } = environment;
  const after = { ...environment, ...changes };
  const data = {
    before: describeProtection(environment),
    after: describeProtection(after),
    weakened: findWeakened(environment, after),
  };
  tx.publish({ type: 'environment.protection_changed', subjectId, owners: { organizationId, teamId }, data });
}

/** The protections that a change weakens. Every change of the kind counts, because people rely on it. */
function findWeakened(before: EnvironmentFields, after: EnvironmentFields): Protection[] {
  const isWeaker: Record<Protection, boolean> = {
    kind: after.kind !== before.kind,
    approval_policy: isWeakerApproval(policyOf(after), policyOf(before)),
    isolation: before.isolation !== null && after.isolation === null,
    allowed_options: allowedOptions(after).some((name) => !allowedOptions(before).includes(name)),
    plan_secrets: before.planSecrets !== null && after.planSecrets === null,
  };
  return protections.filter((protection) => isWeaker[protection]);
}

function describeProtection(fields: EnvironmentFields) {
  const { kind, isolation, allowedOptions: allowed, planSecrets } = fields;
  return { kind, approval_policy: policyOf(fields), isolation, allowed_options: allowed, plan_secrets: planSecrets };
}

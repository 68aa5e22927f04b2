import { z } from 'zod';

/** Policies of approval, of templates and of environments. Pure. */

/** When a plan needs approval. */
export const approvalRules = ['never', 'destroys', 'changes', 'always'] as const;
export type ApprovalRule = (typeof approvalRules)[number];

/**
 * The rules that a form offers, the strictest last. `changes` and `always` mean the same: the form offers only the stored one of the two,
 * so that saving it changes nothing.
 */
export function offeredRules(stored: ApprovalRule | null): readonly ApprovalRule[] {
  return approvalRules.filter((rule) => rule !== (stored === 'always' ? 'changes' : 'always'));
}

/** The approval that a template demands. The environment decides whether people may approve their own runs. */
export const TemplateApproval = z.strictObject({ required: z.int().min(0).max(5), when: z.enum(approvalRules) });
export type TemplateApproval = z.output<typeof TemplateApproval>;

/** An environment's policy: what a template may demand, and whether people may approve their own runs. */
export const ApprovalPolicy = TemplateApproval.extend({ allow_self: z.boolean().default(false) });
export type ApprovalPolicy = z.output<typeof ApprovalPolicy>;

/** A change of a policy; the members that it omits stay as they are. */
export const ApprovalPolicyChange = TemplateApproval.extend({ allow_self: z.boolean() }).partial();
export type ApprovalPolicyChange = z.output<typeof ApprovalPolicyChange>;

/** The fields of an environment or a run that store its policy. */
export interface PolicyFields {
  readonly approvalRequired: number;
  readonly approvalWhen: ApprovalRule;
  readonly approvalAllowSelf: boolean;
}

export const policyFields = ['approvalRequired', 'approvalWhen', 'approvalAllowSelf'] as const;

/** The policy of an environment or a run. */
export function policyOf({ approvalRequired, approvalWhen, approvalAllowSelf }: PolicyFields): ApprovalPolicy {
  return { required: approvalRequired, when: approvalWhen, allow_self: approvalAllowSelf };
}

export function toPolicyFields({ required, when, allow_self: allowSelf }: ApprovalPolicy): PolicyFields {
  return { approvalRequired: required, approvalWhen: when, approvalAllowSelf: allowSelf };
}

/** `changes` and `always` are equally strict. */
const strictness: Record<ApprovalRule, number> = { never: 0, destroys: 1, changes: 2, always: 2 };

/**
 * The policy of a run whose template and environment both have one: the larger `required` and the stricter `when`
 * (never < destroys < changes = always). Only an environment can let people approve their own runs.
 */
export function stricterApproval(
  template: TemplateApproval | null,
  environment: ApprovalPolicy | null,
): ApprovalPolicy {
  const policies = [template, environment].filter((policy) => policy !== null);
  return {
    required: Math.max(0, ...policies.map(({ required }) => required)),
    when: policies.reduce<ApprovalRule>(
      (strictest, { when }) => (strictness[when] > strictness[strictest] ? when : strictest),
      'never',
    ),
    allow_self: environment?.allow_self ?? false,
  };
}

/** The combination of two policies, which demands everything that either of them demands. */
export function strictestPolicy(first: ApprovalPolicy, other: ApprovalPolicy | null): ApprovalPolicy {
  if (other === null) return first;
  return { ...stricterApproval(first, other), allow_self: first.allow_self && other.allow_self };
}

/** Whether a policy protects less than another in at least one way. Being stricter elsewhere does not compensate. */
export function isWeakerApproval(policy: ApprovalPolicy, than: ApprovalPolicy): boolean {
  return (
    policy.required < than.required ||
    strictness[policy.when] < strictness[than.when] ||
    (policy.allow_self && !than.allow_self)
  );
}

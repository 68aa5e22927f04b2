import type { ApprovalPolicy, ApprovalPolicyChange } from '#domain/shared/vocabulary/approval.ts';
import type { RunOptionName } from '#domain/shared/vocabulary/run-options.ts';
import type { NewNamed, Renaming } from '#domain/tenancy/model.ts';
import type { WantedTool } from '#domain/tools/model.ts';
import type { DemandedIsolation } from '#domain/workers/model.ts';

export const environmentKinds = ['development', 'staging', 'production'] as const;
export type EnvironmentKind = (typeof environmentKinds)[number];

/** The demands of an environment on secrets. `weaker`: planning gets other secrets than applying, or none. */
export const planSecretsDemands = ['weaker'] as const;
export type PlanSecretsDemand = (typeof planSecretsDemands)[number];

/** The protections of an environment. Weakening one requires more than the right to change the environment. */
export const protections = ['kind', 'approval_policy', 'isolation', 'allowed_options', 'plan_secrets'] as const;
export type Protection = (typeof protections)[number];

/** The policies of environments that declare none: in production, another person approves every change. */
export const defaultApproval: Record<EnvironmentKind, ApprovalPolicy> = {
  development: { required: 0, when: 'never', allow_self: false },
  staging: { required: 0, when: 'never', allow_self: false },
  production: { required: 1, when: 'changes', allow_self: false },
};

/** The rules of an environment. Omitted rules get defaults at creation and stay unchanged at update. */
interface EnvironmentRules {
  readonly approvalPolicy?: ApprovalPolicy | undefined;
  /** Seconds after which a deployment is due for destruction; null: never. */
  readonly ttlSeconds?: number | null | undefined;
  readonly isolation?: DemandedIsolation | undefined;
  /** The options that runs may use; null: the defaults of the kind. */
  readonly allowedOptions?: RunOptionName[] | null | undefined;
  /** Which secrets planning may get; null: the same as applying. */
  readonly planSecrets?: PlanSecretsDemand | null | undefined;
  /** The tool that its runs use; null: the tool of their templates. */
  readonly tool?: WantedTool | null | undefined;
}

export interface NewEnvironment extends NewNamed, EnvironmentRules {
  readonly kind: EnvironmentKind;
}

export interface EnvironmentChange extends Renaming, Omit<EnvironmentRules, 'approvalPolicy'> {
  /** The members that it omits stay as they are. */
  readonly approvalPolicy?: ApprovalPolicyChange | undefined;
  readonly kind?: EnvironmentKind | undefined;
}

/** Whether a template or an assembly can run in an environment, by their teams. One that belongs to no team can run in all. */
export function canRunIn(teamId: string | null, environmentTeamId: string | null | undefined): boolean {
  return teamId === null || teamId === environmentTeamId;
}

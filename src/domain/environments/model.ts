import { z } from 'zod';
import { ApprovalPolicy } from '#domain/registry/model.ts';
import { durationBetween } from '#domain/shared/durations.ts';
import { Id } from '#domain/shared/ids.ts';
import { ExpectedRevision } from '#domain/shared/revisions.ts';
import { ResourceName, Slug } from '#domain/tenancy/model.ts';
import { DemandedIsolation } from '#domain/workers/model.ts';

export const environmentKinds = ['development', 'staging', 'production'] as const;
export type EnvironmentKind = (typeof environmentKinds)[number];

/** `template`: a default for the template's variable of that name; `env`: an environment variable of the run's tools. */
export const variableCategories = ['template', 'env'] as const;
export type VariableCategory = (typeof variableCategories)[number];

const day = 24 * 60 * 60;
/** After which what was deployed is due for destruction. */
const TimeToLive = durationBetween(60, 365 * day);

/** What holds where nothing else is said: in production, another person approves whatever changes something. */
export const defaultApproval: Record<EnvironmentKind, ApprovalPolicy> = {
  development: { required: 0, when: 'never', allow_self: false },
  staging: { required: 0, when: 'never', allow_self: false },
  production: { required: 1, when: 'changes', allow_self: false },
};

export const CreateEnvironment = z.strictObject({
  project_id: Id,
  name: ResourceName,
  slug: Slug.optional(),
  kind: z.enum(environmentKinds),
  approval_policy: ApprovalPolicy.optional(),
  ttl: TimeToLive.nullable().optional(),
  isolation: DemandedIsolation.optional(),
});

export const UpdateEnvironment = z.strictObject({
  name: ResourceName.optional(),
  slug: Slug.optional(),
  kind: z.enum(environmentKinds).optional(),
  approval_policy: ApprovalPolicy.optional(),
  ttl: TimeToLive.nullable().optional(),
  isolation: DemandedIsolation.optional(),
  ...ExpectedRevision,
});

export const SetVariable = z.strictObject({
  value: z.json(),
  category: z.enum(variableCategories),
  sensitive: z.boolean().default(false),
  ...ExpectedRevision,
});

/** A variable in a path; what more its category asks is said when it is set. */
export const VariableName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_-]{0,127}$/, { error: 'expected letters, digits, "_" and "-", starting with no digit' });

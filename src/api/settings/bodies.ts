import { z } from 'zod';
import { ApprovalPolicy } from '#domain/registry/approval/approval-policy.ts';
import {
  AllowedTools,
  FeatureGates,
  quotaKinds,
  quotaLimitOf,
  retentionKinds,
  retentionOf,
  SignInNotice,
} from '#domain/settings/document.ts';
import { ExpectedRevision } from '#domain/shared/revisions.ts';
import { PoolName } from '#domain/workers/pools/model.ts';

/** An object that may have any of these members. A member may be null, and so may the object, which stands for null in all members. */
function someOf<Name extends string, S extends z.ZodType>(names: readonly Name[], schemaOf: (name: Name) => S) {
  const members = names.map((name) => [name, schemaOf(name).nullable().optional()] as const);
  return z.strictObject(Object.fromEntries(members) as Record<Name, z.ZodOptional<z.ZodNullable<S>>>).nullable();
}

export const UpdateSettings = z
  .strictObject({
    default_approval_policy: ApprovalPolicy.nullable()
      .optional()
      .describe('For environments that state none, and runs for which neither template nor environment states one.'),
    allowed_tools: AllowedTools.nullable().optional().describe('Ranges of versions by tool; null: all tools.'),
    retention: someOf(retentionKinds, retentionOf).optional().describe('Days, or `forever`.'),
    default_pool: PoolName.nullable().optional().describe('The pool of templates that name none.'),
    default_quotas: someOf(quotaKinds, quotaLimitOf)
      .optional()
      .describe('The limits of organizations and teams that have no quota of their own.'),
    sign_in_notice: SignInNotice.nullable().optional().describe('Plain text that the sign-in page shows to everybody.'),
    features: FeatureGates.nullable().optional().describe('Which areas are on. One that is off says why.'),
    ...ExpectedRevision,
  })
  .meta({ id: 'UpdateSettings' });

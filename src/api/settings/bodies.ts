import { z } from 'zod';
import { ignoringShown } from '#api/pipeline/written-back.ts';
import { featureNames } from '#domain/features.ts';
import { AllowedTools } from '#domain/settings/allowed-tools.ts';
import {
  ClosedGate,
  type FeatureGate,
  OpenGate,
  retentionKinds,
  retentionOf,
  SignInNotice,
} from '#domain/settings/document.ts';
import { ExpectedRevision } from '#domain/shared/revisions.ts';
import { ApprovalPolicy } from '#domain/shared/vocabulary/approval.ts';
import { PoolName } from '#domain/shared/vocabulary/pools.ts';
import { limitOf, quotaKindNames } from '#domain/shared/vocabulary/quotas.ts';
import { FeatureView } from './views.ts';

/** An object with any of these members. A member may be null. The object itself may be null, which means null for all members. */
function someOf<Name extends string, S extends z.ZodType>(names: readonly Name[], schemaOf: (name: Name) => S) {
  const members = names.map((name) => [name, schemaOf(name).nullable().optional()] as const);
  return z.strictObject(Object.fromEntries(members) as Record<Name, z.ZodOptional<z.ZodNullable<S>>>).nullable();
}

/** A gate in the form in which it is set, or in which it is read: then its reason is null while it is on. */
const SentGate = z.discriminatedUnion('enabled', [
  ignoringShown(OpenGate.extend({ reason: z.null().optional() }), FeatureView),
  ignoringShown(ClosedGate, FeatureView),
]);

const SentGates = z.strictObject(
  Object.fromEntries(featureNames.map((name) => [name, SentGate.nullable().optional()])) as {
    [Name in (typeof featureNames)[number]]: z.ZodOptional<z.ZodNullable<typeof SentGate>>;
  },
);

export const UpdateSettings = z
  .strictObject({
    default_approval_policy: ApprovalPolicy.nullable()
      .optional()
      .describe('For environments that state none, and runs for which neither template nor environment states one.'),
    allowed_tools: AllowedTools.nullable()
      .optional()
      .describe(
        'Ranges of versions by tool, in place of all that were allowed. A tool that is left out may not be used. Null: all tools.',
      ),
    retention: someOf(retentionKinds, retentionOf).optional().describe('Days, or `forever`.'),
    default_pool: PoolName.nullable().optional().describe('The pool of templates that name none.'),
    default_quotas: someOf(quotaKindNames, limitOf)
      .optional()
      .describe('The limits of organizations and teams that have no quota of their own.'),
    sign_in_notice: SignInNotice.nullable().optional().describe('Plain text that the sign-in page shows to everybody.'),
    features: SentGates.nullable()
      .optional()
      .describe(
        'Which areas are on. One that is off says why. Null turns an area on, or all of them. Titles are ignored.',
      ),
    ...ExpectedRevision,
  })
  .meta({ id: 'UpdateSettings' });

/** The change that a body requests. The descriptive members of an area, which reads add, are left out. */
export function toSettingsChange({
  expected_revision: expectedRevision,
  features,
  ...change
}: z.output<typeof UpdateSettings>) {
  if (features === undefined || features === null) return { ...change, features, expectedRevision };
  const gates = Object.entries(features).map(([name, gate]) => [name, gate && toGate(gate)]);
  return { ...change, features: Object.fromEntries(gates), expectedRevision };
}

function toGate(gate: z.output<typeof SentGate>): FeatureGate {
  return gate.enabled ? { enabled: true } : { enabled: false, reason: gate.reason };
}

import { z } from 'zod';
import { featureNames } from '#domain/features.ts';
import { isStorableText } from '#domain/shared/values/storable.ts';
import { ApprovalPolicy } from '#domain/shared/vocabulary/approval.ts';
import { PoolName } from '#domain/shared/vocabulary/pools.ts';
import { limitOf, quotaKindNames } from '#domain/shared/vocabulary/quotas.ts';
import { AllowedTools, StoredTools } from './allowed-tools.ts';

/** The settings of the whole installation. A document contains only the settings that were set; the others have their defaults. */

const maxDays = 36_500;

/** How long something is kept: a number of days, or forever. */
export const Retention = z.union([z.int().min(1).max(maxDays), z.literal('forever')], {
  error: `expected a number of days from 1 to ${maxDays}, or "forever"`,
});
export type Retention = z.output<typeof Retention>;

/** The kinds of rows that are removed when they are old. */
export const retentionKinds = ['audit', 'events', 'run_logs', 'run_plans', 'drift_scans', 'drift_findings'] as const;
export type RetentionKind = (typeof retentionKinds)[number];

/** The minimum retention of events in days: deliveries of webhooks are listed and can be repeated for this long, and need their events. */
const minDaysOfEvents = 30;

/** How long something of a kind may be kept. */
export const retentionOf = (kind: RetentionKind) =>
  kind === 'events'
    ? z.union([z.int().min(minDaysOfEvents).max(maxDays), z.literal('forever')], {
        error: `expected at least ${minDaysOfEvents} days, for which webhooks may send events again, and at most ${maxDays}, or "forever"`,
      })
    : Retention;

export const SignInNotice = z
  .string()
  .trim()
  .min(1)
  .max(2000)
  .refine((text) => isStorableText(text), { error: 'must be plain text' });

export const OpenGate = z.strictObject({ enabled: z.literal(true) });
export const ClosedGate = z.strictObject({
  enabled: z.literal(false),
  reason: z
    .string()
    .trim()
    .min(1, { error: 'must say why the area is off' })
    .max(500)
    .refine((text) => isStorableText(text), { error: 'must be plain text' })
    .describe('Everybody who wants to use the area is told.'),
});

/** Whether an area is turned on; if not, the reason. */
export const FeatureGate = z.discriminatedUnion('enabled', [OpenGate, ClosedGate]);
export type FeatureGate = z.output<typeof FeatureGate>;

/** The settings that have one value. */
const singles = {
  default_approval_policy: ApprovalPolicy,
  allowed_tools: AllowedTools,
  default_pool: PoolName,
  sign_in_notice: SignInNotice,
};

/** The settings that have a value for each of some names. */
const groups = {
  retention: forEach(retentionKinds, () => Retention),
  default_quotas: forEach(quotaKindNames, limitOf),
  features: forEach(featureNames, () => FeatureGate),
};

function forEach<Name extends string, S extends z.ZodType>(names: readonly Name[], schemaOf: (name: Name) => S) {
  return Object.fromEntries(names.map((name) => [name, schemaOf(name)])) as Record<Name, S>;
}

/** The stored document. Members that this release does not know come from a later one, and have no effect. */
export const StoredDocument = z.looseObject({
  ...z.object({ ...singles, allowed_tools: StoredTools }).partial().shape,
  ...Object.fromEntries(
    Object.entries(groups).map(([name, members]) => [name, z.looseObject(members).partial().optional()]),
  ),
});

export type SingleSettings = { [Name in keyof typeof singles]?: z.output<(typeof singles)[Name]> };
export type SettingsGroups = {
  [Name in keyof typeof groups]?: { [Member in keyof (typeof groups)[Name]]?: z.output<(typeof groups)[Name][Member]> };
};
export interface SettingsDocument extends SingleSettings, SettingsGroups {}

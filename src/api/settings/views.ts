import { z } from 'zod';
import type { ActionContext } from '#api/pipeline/actions.ts';
import { actionsOf } from '#api/pipeline/actions.ts';
import { Time } from '#api/pipeline/schemas.ts';
import { featureNames, features } from '#domain/features.ts';
import { allowableTools } from '#domain/settings/allowed-tools.ts';
import { retentionKinds } from '#domain/settings/document.ts';
import { defaultsOf, effectiveSettings, type InstallationDefaults } from '#domain/settings/effective.ts';
import type { SettingsTarget } from '#domain/settings/settings.ts';
import { approvalRules } from '#domain/shared/vocabulary/approval.ts';
import { quotaKindNames } from '#domain/shared/vocabulary/quotas.ts';

/** The name of the only document of settings, in access reviews and in the audit. */
export const settingsName = 'global';

const Kept = z.union([z.int(), z.literal('forever')]);
const PolicyView = z.object({ required: z.int(), when: z.enum(approvalRules), allow_self: z.boolean() });
const RetentionView = z.record(z.enum(retentionKinds), Kept);
export const FeatureView = z.object({
  title: z.string(),
  enabled: z.boolean(),
  reason: z.string().nullable().describe('Why it is off.'),
});

export const settingsActions = actionsOf<SettingsTarget>()({ update: { operation: 'settings.update' } });

export const SettingsView = z
  .object({
    name: z.literal(settingsName),
    default_approval_policy: PolicyView,
    allowed_tools: z
      .partialRecord(z.enum(allowableTools), z.array(z.string()))
      .nullable()
      .describe('Ranges of versions by tool; null: all tools.'),
    retention: RetentionView,
    default_pool: z.string(),
    default_quotas: z.partialRecord(z.enum(quotaKindNames), z.int()),
    sign_in_notice: z.string().nullable(),
    features: z.record(z.enum(featureNames), FeatureView),
    defaults: z
      .object({ default_approval_policy: PolicyView, retention: RetentionView, default_pool: z.string() })
      .describe('What holds where nothing is set; some of it comes from the configuration of the installation.'),
    revision: z.int(),
    updated_at: Time.nullable(),
    actions: settingsActions.view,
  })
  .meta({ id: 'Settings' });

export function toSettings(target: SettingsTarget, installation: InstallationDefaults, context: ActionContext) {
  const { document, revision, updatedAt } = target;
  const holds = effectiveSettings(document, installation);
  const defaults = defaultsOf(installation);
  return {
    name: settingsName,
    default_approval_policy: holds.approvalPolicy,
    allowed_tools: document.allowed_tools ?? null,
    retention: holds.retention,
    default_pool: holds.pool,
    default_quotas: document.default_quotas ?? {},
    sign_in_notice: document.sign_in_notice ?? null,
    features: describeFeatures(document),
    defaults: {
      default_approval_policy: defaults.approvalPolicy,
      retention: defaults.retention,
      default_pool: defaults.pool,
    },
    revision,
    updated_at: updatedAt,
    actions: settingsActions.describe(context, target),
  } as const;
}

function describeFeatures({ features: gates = {} }: SettingsTarget['document']) {
  const views = featureNames.map((name) => {
    const gate = gates[name];
    const reason = gate?.enabled === false ? gate.reason : null;
    return [name, { title: features[name].title, enabled: reason === null, reason }] as const;
  });
  return Object.fromEntries(views) as Record<(typeof featureNames)[number], z.input<typeof FeatureView>>;
}

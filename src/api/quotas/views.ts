import { z } from 'zod';
import { type ActionContext, actionsOf } from '#api/pipeline/actions.ts';
import { Time } from '#api/pipeline/schemas.ts';
import type { Em } from '#database/database.ts';
import type { QuotaTarget } from '#domain/quotas/changes.ts';
import { readDefaultLimits } from '#domain/quotas/limits/limits.ts';
import { type QuotaDetails, readQuota } from '#domain/quotas/store.ts';
import { readUsage, type Usage } from '#domain/quotas/usage.ts';
import { Id } from '#domain/shared/ids.ts';
import { maxInteger } from '#domain/shared/values/storable.ts';
import { installationId, Limits, quotaKindNames, quotaKinds, quotaScopes } from '#domain/shared/vocabulary/quotas.ts';

export const QuotaScopeName = z.enum(quotaScopes);
export const QuotaParams = z
  .strictObject({
    scope: QuotaScopeName,
    id: z
      .string()
      .min(1)
      .max(64)
      .describe(`The id of the organization, team or environment; \`${installationId}\` for the installation.`),
  })
  .check(({ value: { scope, id }, issues }) => {
    const isFit = scope === 'installation' ? id === installationId : Id.safeParse(id).success;
    const expected = scope === 'installation' ? `"${installationId}"` : `the id of the ${scope}, a UUID`;
    if (!isFit) issues.push({ code: 'custom', path: ['id'], message: `expected ${expected}`, input: id });
  });

const kinds = quotaKindNames.map((kind) => `\`${kind}\`: ${quotaKinds[kind]}`).join('; ');
const limitsHelp = `${kinds}. A kind that is left out, or null, is not limited; 0 allows nothing.`;

export const SetQuota = z
  .strictObject({
    limits: Limits.describe(limitsHelp),
    expected_revision: z
      .int()
      .min(0)
      .max(maxInteger)
      .optional()
      .describe('The revision that was read. 0: the owner must have no quota yet.'),
  })
  .meta({ id: 'SetQuota' });

const UsageView = z
  .object({
    kind: z.enum(quotaKindNames),
    limit: z
      .number()
      .nullable()
      .describe('Null: not limited. Without a quota of its own, an owner may have a limit by the settings.'),
    used: z.number().nullable().describe('Null: what is recorded cannot be right; recount it.'),
  })
  .meta({ id: 'QuotaUsage' });

const quotaFields = {
  scope: QuotaScopeName,
  id: z.string(),
  name: z.string().nullable().describe('The name of the owner; null for the installation.'),
  limits: z
    .record(z.string(), z.number())
    .nullable()
    .describe(
      'The kinds that are limited. Null: the quota cannot be read, and lets nothing through until it is set or cleared.',
    ),
  revision: z.int().nullable().describe('Null: the owner has no quota of its own.'),
  updated_at: Time.nullable(),
};

/** A quota in a list, with the usage of its limits. */
export const ListedQuotaView = z.object({ ...quotaFields, usage: z.array(UsageView) }).meta({ id: 'ListedQuota' });

/** What a caller may do with a quota. */
const quotaActions = actionsOf<QuotaTarget & { readonly hasQuota: boolean }>()({
  set: { operation: 'quotas.set' },
  clear: {
    operation: 'quotas.clear',
    findRefusal: ({ hasQuota, scope }) => (hasQuota ? null : { message: `a quota of the ${scope} was not found` }),
  },
  recount: { operation: 'quotas.recount' },
});

/** A single quota, with everything that its owner uses. */
export const QuotaView = z
  .object({ ...quotaFields, usage: z.array(UsageView), actions: quotaActions.view })
  .meta({ id: 'Quota' });

type Shown = Pick<QuotaTarget, 'scope' | 'id' | 'name'>;

function view({ scope, id, name }: Shown, quota: QuotaDetails | undefined, usage: readonly Usage[]) {
  const limits = quota ? quota.limits : {};
  return {
    scope,
    id,
    name,
    limits: limits && toRecord(limits),
    revision: quota?.revision ?? null,
    updated_at: quota?.updatedAt ?? null,
    usage: [...usage],
  };
}

function toRecord(limits: Limits): Record<string, number> {
  return Object.fromEntries(Object.entries(limits).flatMap(([kind, limit]) => (limit == null ? [] : [[kind, limit]])));
}

export async function viewQuota(em: Em, quota: QuotaDetails): Promise<z.input<typeof ListedQuotaView>> {
  return view(quota, quota, await readUsage(em, quota, quota.limits, 'limited'));
}

/** Shows the quota of an owner, or that the owner has none, with the actions that the caller may take. */
export async function showQuota(
  em: Em,
  context: ActionContext,
  target: QuotaTarget,
): Promise<z.input<typeof QuotaView>> {
  const quota = await readQuota(em, target);
  const limits = quota ? quota.limits : await readDefaultLimits(em, target.scope);
  const usage = await readUsage(em, target, limits, 'all');
  return {
    ...view(target, quota, usage),
    actions: quotaActions.describe(context, { ...target, hasQuota: quota !== undefined }),
  };
}

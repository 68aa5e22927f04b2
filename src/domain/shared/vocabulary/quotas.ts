import { z } from 'zod';
import { maxInteger } from '../values/storable.ts';

/** The kinds of use that quotas limit, and the owners whose use they limit. Pure. */

/** The scopes from the nearest to the widest, which is the order in which they are locked and checked. */
export const quotaScopes = ['environment', 'team', 'organization', 'installation'] as const;
export type QuotaScope = (typeof quotaScopes)[number];

/** The name of a scope, which is followed by the id or the name of the owner. */
export const scopeNames: Readonly<Record<QuotaScope, string>> = {
  installation: 'Installation',
  organization: 'Organization',
  team: 'Team',
  environment: 'Environment',
};

/** The id of the installation in paths. */
export const installationId = 'global';

/** What can be limited, worded for an error: "the team has 5 of 5 queued runs". */
export const quotaKinds = {
  concurrent_runs: 'runs that execute at once',
  queued_runs: 'queued runs',
  runs_per_day: 'runs admitted today (UTC)',
  instances: 'instances',
  templates: 'templates',
  state_bytes: 'bytes of state',
  log_bytes: 'bytes of log',
  api_keys: 'active API keys',
} as const;
export type QuotaKind = keyof typeof quotaKinds;
export const quotaKindNames = Object.keys(quotaKinds) as [QuotaKind, ...QuotaKind[]];

/** How much of a limit is used, as in "5 of 5 queued runs". */
export function describeUse({ kind, used, limit }: { kind: QuotaKind; used: number; limit: number }): string {
  return `${used} of ${limit} ${quotaKinds[kind]}`;
}

/** Templates and keys belong to no environment. */
const withoutEnvironment: readonly QuotaKind[] = ['templates', 'api_keys'];

export function kindsOf(scope: QuotaScope): QuotaKind[] {
  return quotaKindNames.filter((kind) => scope !== 'environment' || !withoutEnvironment.includes(kind));
}

/** The kinds that are counted in bytes. */
export const kindsInBytes: readonly QuotaKind[] = ['state_bytes', 'log_bytes'];

/** A pebibyte. With this limit, sums of bytes stay exact in every client. */
const maxBytes = 2 ** 50;

/**
 * The schema of a limit, for quotas and settings. Limits of bytes may exceed PostgreSQL's type `int`, because limits are stored as JSON.
 */
export const limitOf = (kind: QuotaKind) =>
  z
    .int()
    .min(0)
    .max(kindsInBytes.includes(kind) ? maxBytes : maxInteger);

/** The limits of one scope. A kind that is left out, or null, is not limited. 0 allows nothing. */
export const Limits = z.strictObject(
  Object.fromEntries(quotaKindNames.map((kind) => [kind, limitOf(kind).nullable().optional()])) as Record<
    QuotaKind,
    z.ZodOptional<z.ZodNullable<ReturnType<typeof limitOf>>>
  >,
);
export type Limits = { [Kind in QuotaKind]?: number | null | undefined };

/** Removes the kinds that are not limited. */
export function withoutNulls(limits: Limits): Limits {
  return Object.fromEntries(Object.entries(limits).filter(([, limit]) => typeof limit === 'number'));
}

/** The owner whose use a quota limits: the scope, and the id that paths and errors name. */
export interface QuotaSubject {
  readonly scope: QuotaScope;
  readonly id: string;
}

/** Names a subject in locks, crossings and audit records. */
export function subjectName({ scope, id }: QuotaSubject): string {
  return `${scope}/${id}`;
}

/**
 * The quota for which a run waits, or a node whose run cannot be queued, as `waiting_on.blocker` shows it. Null limits: the quota cannot be
 * read.
 */
export interface QuotaBlocker {
  scope: QuotaScope;
  id: string;
  kind: 'concurrent_runs' | 'queued_runs';
  limit: number | null;
  used: number | null;
}

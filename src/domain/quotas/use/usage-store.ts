import { type Expression, expressionBuilder, type SqlBool, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { oldestMonth } from '#database/partitions.ts';
import { db } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import { firstIdAt } from '#domain/shared/ids.ts';
import { holdCodes } from '#domain/shared/vocabulary/holds.ts';
import type { QuotaKind, QuotaSubject } from '#domain/shared/vocabulary/quotas.ts';

/**
 * Counts the use of each kind. Everything is counted on demand, so that counts cannot become wrong and a transfer changes no stored counts.
 * Only bytes are stored, for each instance and month (`metering-store.ts`), and summed.
 */

/** The columns with the owners of a row. Keys and templates have no environment. */
interface OwnerColumns {
  readonly team: Expression<string | null>;
  readonly environment?: Expression<string | null>;
}

/** Whether a row belongs to a subject. For an environment, its team is compared too, because the indexes begin with the team. */
export function belongsTo({ scope, id }: QuotaSubject, { team, environment }: OwnerColumns) {
  if (scope === 'installation') return sql<SqlBool>`true`;
  if (scope === 'team') return sql<SqlBool>`${team} = ${id}::uuid`;
  if (scope === 'organization')
    return sql<SqlBool>`${team} = any(array(select id from teams where organization_id = ${id}::uuid))`;
  const teamOf = sql`(select p.team_id from environments e join projects p on p.id = e.project_id where e.id = ${id}::uuid)`;
  return sql<SqlBool>`(${environment} = ${id}::uuid and ${team} = ${teamOf})`;
}

const count = sql<number>`count(*)::float8`.as('used');
const isNoScan = sql<SqlBool>`runs.operation <> 'scan'`;
const runOwner = { team: sql.ref<string>('runs.teamId'), environment: sql.ref<string>('runs.environmentId') };

/**
 * A run takes a slot from the beginning of its plan to its end, and none while it waits for approvals, for the end of a hold or for a slot.
 * One that is canceled keeps its slot until its tool has stopped. Scans take none.
 */
export const usesQuotaSlot = sql<SqlBool>`runs.finished_at is null and runs.operation <> 'scan' and runs.status in ('running', 'canceling')
  and runs.phase in ('planning', 'applying')
  and coalesce(runs.waiting_on ->> 'code', '') not in ('quota', ${sql.join(holdCodes.map((code) => sql.lit(code)))})`;

type Counter = (em: Em, subject: QuotaSubject, now: Date) => Expression<{ used: number }>;

const counters: Readonly<Record<QuotaKind, Counter>> = {
  concurrent_runs: (em, subject) =>
    db(em).selectFrom('runs').where(belongsTo(subject, runOwner)).where(usesQuotaSlot).select(count),
  queued_runs: (em, subject) =>
    db(em)
      .selectFrom('runs')
      .where(belongsTo(subject, runOwner))
      .where('runs.finishedAt', 'is', null)
      .where(isNoScan)
      .where('runs.status', '=', sql.lit('queued' as const))
      .select(count),
  runs_per_day: (em, subject, now) =>
    db(em)
      .selectFrom('runs')
      .where(belongsTo(subject, runOwner))
      .where(isNoScan)
      .where('runs.id', '>=', firstIdAt(beginOfDay(now)))
      .select(count),
  instances: (em, subject) =>
    db(em)
      .selectFrom('instances as i')
      .where(belongsTo(subject, { team: sql.ref('i.teamId'), environment: sql.ref('i.environmentId') }))
      .where('i.deletedAt', 'is', null)
      .select(count),
  templates: (em, subject) =>
    db(em)
      .selectFrom('templates as t')
      .where(belongsTo(subject, { team: sql.ref('t.teamId') }))
      .where('t.deletedAt', 'is', null)
      .select(count),
  state_bytes: (em, subject) => sumBytes(em, subject, 'stateBytes').where('i.deletedAt', 'is', null),
  // Logs past their retention were deleted with the partition of their month.
  log_bytes: (em, subject) =>
    sumBytes(em, subject, 'logBytes').where('instance_usages.month', '>=', oldestMonth('run_log_chunks')),
  api_keys: (em, subject) =>
    db(em)
      .selectFrom('api_keys as k')
      .leftJoin('service_accounts as a', 'a.id', 'k.principalId')
      .where(belongsTo(subject, { team: sql.ref('a.ownerTeamId') }))
      .where('k.revokedAt', 'is', null)
      .where((eb) => eb.or([eb('k.expiresAt', 'is', null), eb('k.expiresAt', '>', sql<string>`clock_timestamp()`)]))
      .select(count),
};

function sumBytes(em: Em, subject: QuotaSubject, column: 'stateBytes' | 'logBytes') {
  const bytes = expressionBuilder<Tables, 'instance_usages'>().ref(`instance_usages.${column}`);
  return db(em)
    .selectFrom('instances as i')
    .innerJoin('instance_usages', 'instance_usages.instanceId', 'i.id')
    .where(belongsTo(subject, { team: sql.ref('i.teamId'), environment: sql.ref('i.environmentId') }))
    .select(sql<number>`coalesce(sum(${bytes}), 0)::float8`.as('used'));
}

/** How much of a kind is used. Rows that the open transaction has written count. */
export async function countUse(em: Em, subject: QuotaSubject, kind: QuotaKind, now = new Date()): Promise<number> {
  return (await countUses(em, [{ ...subject, kind }], now))[0] ?? 0;
}

/** How much of each of these is used, counted by one statement. */
export async function countUses(
  em: Em,
  wanted: readonly (QuotaSubject & { readonly kind: QuotaKind })[],
  now = new Date(),
): Promise<number[]> {
  if (wanted.length === 0) return [];
  const counts = wanted.map(({ kind, ...subject }, index) =>
    sql<number | null>`(${counters[kind](em, subject, now)})`.as(`use${index}`),
  );
  const row = (await db(em).selectNoFrom(counts).executeTakeFirstOrThrow()) as Record<string, number | null>;
  return wanted.map((_, index) => row[`use${index}`] ?? 0);
}

function beginOfDay(now: Date): Date {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()));
}

import { isDeepStrictEqual } from 'node:util';
import { db } from '#domain/db.ts';
import { takeAdvisoryLock } from '#domain/shared/access/authority-lock.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { invalidField, NotFound } from '#domain/shared/errors.ts';
import { newId } from '#domain/shared/ids.ts';
import { refuseStale } from '#domain/shared/revisions.ts';
import {
  kindsInBytes,
  kindsOf,
  type Limits,
  type QuotaKind,
  type QuotaSubject,
  subjectName,
  withoutNulls,
} from '#domain/shared/vocabulary/quotas.ts';
import { Quota } from './entity.ts';
import { readLimits } from './limits/limits.ts';
import { readQuota } from './store.ts';
import { readUsage, type Usage } from './usage.ts';
import { noteUse } from './use/crossings.ts';
import { recountBytes } from './use/metering-store.ts';
import { wakeFirst } from './use/slots.ts';

/** The owner whose quota an operation concerns. The owner may not have a quota yet. */
export interface QuotaTarget extends Ownership, QuotaSubject {
  /** The name of the owner; null: the installation. */
  readonly name: string | null;
}

/** A change of a quota. Null limits: there was no quota, or it could not be read. */
export interface QuotaChange {
  readonly before: Limits | null;
  readonly after: Limits | null;
  readonly revision: number;
}

/**
 * Replaces the limits of an owner, even if the owner already uses more, or if the earlier limits cannot be read. Transactions that have
 * read the earlier limits commit first. If bytes were not limited before, they are counted now.
 * @throws Invalid for a kind that the scope does not have; Conflict for a stale revision
 */
export async function setQuota(
  tx: Transaction,
  target: QuotaTarget,
  wanted: Limits,
  expectedRevision: number | undefined,
): Promise<QuotaChange> {
  const limits = withoutNulls(wanted);
  refuseUnknownKinds(target, limits);
  await countNewBytes(tx, target, limits);
  const row = await lockQuota(tx, target);
  const quota = row?.clearedAt === null ? row : null;
  if (expectedRevision !== undefined) refuseStale({ revision: quota?.revision ?? 0 }, expectedRevision);
  const before = quota ? readLimits(quota.limits) : null;
  const revision = quota && isDeepStrictEqual(before, limits) ? quota.revision : save(tx, target, row, limits);
  await tx.em.flush();
  await noteUses(tx, target, limits);
  await wakeFirst(tx, target);
  return { before, after: limits, revision };
}

function refuseUnknownKinds({ scope }: QuotaSubject, limits: Limits): void {
  const known: readonly string[] = kindsOf(scope);
  const unknown = Object.keys(limits).find((kind) => !known.includes(kind));
  if (unknown) throw invalidField(`limits.${unknown}`, `an ${scope} has none: limit its team or organization`);
}

/** Counts the bytes that become limited. It locks the instances before the quota, in the same order as transactions that use the quota. */
async function countNewBytes(tx: Transaction, target: QuotaTarget, limits: Limits): Promise<void> {
  const current = (await readQuota(tx.em, target))?.limits;
  const isNew = (kind: QuotaKind) => typeof limits[kind] === 'number' && typeof current?.[kind] !== 'number';
  if (kindsInBytes.some(isNew)) await recountBytes(tx.em, target);
}

/** Waits for all transactions that have read the quota, and makes others wait until the commit. The row remains when a quota is cleared. */
async function lockQuota(tx: Transaction, { scope, id }: QuotaSubject): Promise<Quota | null> {
  await takeAdvisoryLock(tx.em, `quotas/${subjectName({ scope, id })}`);
  return tx.em.findOne(Quota, scope === 'installation' ? { scope } : { [`${scope}Id`]: id });
}

/** Writes the limits and returns the revision. A quota that was cleared continues its revisions, so that no stale revision matches it. */
function save(tx: Transaction, { scope, id }: QuotaSubject, row: Quota | null, limits: Limits): number {
  const now = new Date();
  if (row) {
    Object.assign(row, { limits, clearedAt: null, updatedAt: now, revision: row.revision + 1 });
    return row.revision;
  }
  const owner = scope === 'installation' ? {} : { [`${scope}Id`]: id };
  tx.em.persist(tx.em.create(Quota, { id: newId(), scope, ...owner, limits, createdAt: now, updatedAt: now }));
  return 1;
}

/** Reports limits that the present use has reached. A limit of 0 without any use is not reported, because it is meant to allow nothing. */
async function noteUses(tx: Transaction, { scope, id }: QuotaSubject, limits: Limits): Promise<void> {
  const uses = await readUsage(tx.em, { scope, id }, limits, 'limited');
  for (const { kind, limit, used } of uses) {
    if (limit === null || !used || kind === 'concurrent_runs') continue;
    await noteUse(tx, { scope, id, kind, limit, used });
  }
}

/** Removes the quota of an owner. Runs that wait for it continue. @throws NotFound if there is none; Conflict for a stale revision */
export async function clearQuota(
  tx: Transaction,
  target: QuotaTarget,
  expectedRevision: number | undefined,
): Promise<QuotaChange> {
  const quota = await lockQuota(tx, target);
  if (quota?.clearedAt !== null) throw new NotFound(`a quota of the ${target.scope}`);
  refuseStale(quota, expectedRevision);
  const { revision } = quota;
  const before = readLimits(quota.limits);
  quota.clearedAt = new Date();
  await tx.em.flush();
  await db(tx.em).deleteFrom('quota_crossings').where('subject', '=', subjectName(target)).execute();
  await wakeFirst(tx, target);
  return { before, after: null, revision };
}

/**
 * Counts again what an owner uses. Only sums of bytes are stored, so only these can be wrong, for example after a restore. Writes of the
 * owner's instances wait until it ends.
 */
export async function recountQuota(
  tx: Transaction,
  target: QuotaTarget,
): Promise<{ before: readonly Usage[]; after: readonly Usage[] }> {
  const limits = (await readQuota(tx.em, target))?.limits ?? null;
  const before = await readUsage(tx.em, target, limits, 'all');
  await recountBytes(tx.em, target);
  return { before, after: await readUsage(tx.em, target, limits, 'all') };
}

import { timingSafeEqual } from 'node:crypto';
import { sql } from 'kysely';
import { onlyOnceBegun } from '#database/connection.ts';
import type { Em } from '#database/database.ts';
import type { ParameterOf } from '#database/queries.ts';
import { type JsonText, json } from '#database/tables.ts';
import { db, type Over, prepare, prepareChange } from '#domain/db.ts';
import type { Principal } from '../access/principal.ts';
import { Conflict } from '../errors.ts';
import { isId, zeroId } from '../ids.ts';
import type { Transaction } from './transaction.ts';

/**
 * The receipt of a command. It does not contain the response. `answer` is the data from which the caller of `runCommand` can answer a
 * repeated command; it is stored and returned unchanged. Null: the command is never repeated.
 */
export interface Receipt<Answer> {
  readonly answer: Answer | null;
  readonly resourceId: string | null;
  readonly revision: number | null;
  readonly auditRecordId: string;
}

/** The receipt of a committed command, with its key. */
export interface RecordedReceipt<Answer> extends Receipt<Answer> {
  readonly key: string;
  readonly operation: string;
  readonly createdAt: string;
}

/** The columns of a `Receipt`. A receipt of the release before this one has `status` and `location` instead of `answer`. */
export function selectReceipt(eb: Over<{ r: 'command_receipts' }>) {
  const earlier = sql<
    Record<string, unknown>
  >`jsonb_build_object('status', ${eb.ref('r.status')}, 'location', ${eb.ref('r.location')})`;
  return [
    eb.fn.coalesce('r.answer', eb.case().when('r.status', '>', 0).then(earlier).end()).as('answer'),
    'r.resourceId',
    'r.revision',
    'r.auditRecordId',
  ] as const;
}

/** The HMACs to which a key is bound: of the request as it was sent, and of its resolved meaning (`Command.resolved`). */
interface Binding {
  readonly sent: Buffer;
  readonly resolved: Buffer;
}

export interface Bindings extends Binding {
  /** The binding of version 1, without the precondition: a receipt is compared by the version that wrote it. */
  readonly earlier: Binding;
}

/** The version of the bindings that this release writes. */
const bindingVersion = 2;

/** A key, with the caller and the operation that use it. */
interface KeyClaim {
  readonly key: string | null;
  readonly caller: Principal;
  readonly operation: string;
}

type NewReceipt = {
  key: string;
  principalId: string;
  operation: string;
  binding: Buffer;
  resolvedBinding: Buffer;
  auditRecordId: string;
  isReserved: boolean;
};

const boundColumns = ['key', 'principalId', 'operation', 'binding', 'resolvedBinding', 'bindingVersion'] as const;

/** The statement is sent together with the begin of the transaction, and does nothing if the begin failed. */
const insertReceipt = prepare((db, parameter: ParameterOf<NewReceipt>) =>
  db
    .insertInto('command_receipts')
    .columns([...boundColumns, 'auditRecordId', 'isReserved', 'createdAt'])
    .expression(
      db
        .selectNoFrom([
          sql<string>`${parameter('key')}::uuid`.as('key'),
          sql<string>`${parameter('principalId')}::uuid`.as('principalId'),
          sql<string>`${parameter('operation')}::text`.as('operation'),
          sql<Buffer>`${parameter('binding')}::bytea`.as('binding'),
          sql<Buffer>`${parameter('resolvedBinding')}::bytea`.as('resolvedBinding'),
          sql<number>`${sql.lit(bindingVersion)}::smallint`.as('bindingVersion'),
          sql<string>`${parameter('auditRecordId')}::uuid`.as('auditRecordId'),
          sql<boolean>`${parameter('isReserved')}::boolean`.as('isReserved'),
          sql<string>`clock_timestamp()`.as('createdAt'),
        ])
        .where(sql<boolean>`${sql.raw(onlyOnceBegun)}`),
    )
    .onConflict((conflict) => conflict.column('key').doNothing())
    .returning('key'),
);

/** Claims the key for this command; waits for other transactions that are claiming it. Returns the receipt of an earlier use. */
export async function claimKey<Answer>(
  tx: Transaction,
  { key, caller, operation }: KeyClaim,
  bindings: Bindings | null,
  auditRecordId: string,
): Promise<Receipt<Answer> | undefined> {
  if (key === null || bindings === null) return undefined;
  const { sent: binding, resolved: resolvedBinding } = bindings;
  const receipt = {
    key,
    principalId: caller.id,
    operation,
    binding,
    resolvedBinding,
    auditRecordId,
    isReserved: false,
  };
  if ((await insertReceipt(tx.em, receipt)).length > 0) return undefined;
  if (await takeReserved(tx.em, key, bindings, auditRecordId)) return undefined;
  return readReceipt(tx.em, key, bindings);
}

/**
 * Binds the key to a command that a workflow with the same id commits later, so that no other command gets the key or the id before. It
 * does nothing if the key is bound to the command already. @throws Conflict if another command used the key
 */
export async function reserveKey(
  em: Em,
  { key, caller, operation }: KeyClaim & { readonly key: string },
  bindings: Bindings,
): Promise<void> {
  const { sent: binding, resolved: resolvedBinding } = bindings;
  const none = { auditRecordId: zeroId, isReserved: true };
  const receipt = { key, principalId: caller.id, operation, binding, resolvedBinding, ...none };
  if ((await insertReceipt(em, receipt)).length === 0) await readReceipt(em, key, bindings);
}

/** Claims a key that was reserved for the same command; waits for other transactions that are claiming it. */
async function takeReserved(em: Em, key: string, bindings: Bindings, auditRecordId: string): Promise<boolean> {
  const { numUpdatedRows } = await db(em)
    .updateTable('command_receipts')
    .set({ isReserved: false, auditRecordId })
    .where('key', '=', key)
    .where('isReserved', '=', true)
    .where((eb) => {
      const isBoundTo = (isVersion: '=' | '<', { sent, resolved }: Binding) =>
        eb.and([
          eb('bindingVersion', isVersion, bindingVersion),
          eb.or([eb('binding', '=', sent), eb('resolvedBinding', '=', resolved)]),
        ]);
      return eb.or([isBoundTo('=', bindings), isBoundTo('<', bindings.earlier)]);
    })
    .executeTakeFirst();
  return Number(numUpdatedRows) === 1;
}

interface BoundKey {
  readonly binding: Buffer;
  readonly resolvedBinding: Buffer | null;
  readonly version: number;
  readonly isReserved: boolean;
}

/** The receipt under a key; undefined also if the key is only reserved for the command. @throws Conflict if another command used the key */
export async function readReceipt<Answer>(
  em: Em,
  key: string,
  bindings: Bindings,
): Promise<Receipt<Answer> | undefined> {
  const [found] = await db(em)
    .selectFrom('command_receipts as r')
    .where('r.key', '=', key)
    .select(['r.binding', 'r.resolvedBinding', 'r.bindingVersion as version'])
    .select('r.isReserved')
    .select(selectReceipt)
    .$castTo<Receipt<Answer> & BoundKey>()
    .execute();
  if (!found) return undefined;
  const { binding, resolvedBinding, version, isReserved, ...receipt } = found;
  const { sent, resolved } = version < bindingVersion ? bindings.earlier : bindings;
  if (isEqual(binding, sent) || isEqual(resolvedBinding, resolved)) return isReserved ? undefined : receipt;
  throw new Conflict(
    'this idempotency key was used for another request: send a fresh key, or repeat the original request unchanged',
    'idempotency_key_reused',
  );
}

function isEqual(bound: Buffer | null, binding: Buffer): boolean {
  return bound !== null && bound.length === binding.length && timingSafeEqual(bound, binding);
}

type CompletedReceipt = {
  key: string;
  answer: JsonText<Record<string, unknown>> | null;
  resourceId: string | null;
  revision: number | null;
};

/** Also writes `status` and `location`, which the previous release reads. */
const updateReceipt = prepareChange((db, parameter: ParameterOf<CompletedReceipt>) => {
  const answer = sql`${parameter('answer')}::jsonb`;
  return db
    .updateTable('command_receipts')
    .set({
      answer: parameter('answer'),
      status: sql<number>`coalesce((${answer} ->> 'status')::int, 0)`,
      location: sql<string | null>`${answer} ->> 'location'`,
      resourceId: parameter('resourceId'),
      revision: parameter('revision'),
    })
    .where('key', '=', parameter('key'));
});

/** Completes the receipt whose key the transaction has claimed. */
export function completeReceipt<Answer>(
  tx: Transaction,
  key: string,
  { answer, resourceId, revision }: Receipt<Answer>,
): void {
  const kept = answer === null ? null : json(answer as Record<string, unknown>);
  // Pools and the pause of all applies have names instead of ids. The answer itself says where to read them.
  const id = resourceId !== null && isId(resourceId) ? resourceId : null;
  tx.write(updateReceipt({ key, answer: kept, resourceId: id, revision }));
}

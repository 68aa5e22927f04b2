import { timingSafeEqual } from 'node:crypto';
import { onlyOnceBegun } from '#database/connection.ts';
import type { Em } from '#database/database.ts';
import { credentialCounts, type Principal } from '../access/principal.ts';
import { Conflict, Unauthenticated } from '../errors.ts';
import type { Transaction } from './transaction.ts';

/**
 * What is kept of a command, without anything that it showed. `answer` is what whoever took the command needs to answer its
 * repeat: it is stored and returned, and nothing here looks into it. Null: nobody repeats the command.
 */
export interface Receipt<Answer> {
  readonly answer: Answer | null;
  readonly resourceId: string | null;
  readonly revision: number | null;
  readonly auditRecordId: string;
}

/** What is known of a command that was committed: never more than its receipt kept. */
export interface RecordedReceipt<Answer> extends Receipt<Answer> {
  readonly key: string;
  readonly operation: string;
  readonly createdAt: string;
}

/** A receipt of the release before this one has no `answer`; it has two columns, which say less. */
const columns = `
  coalesce(r.answer, case when r.status > 0 then jsonb_build_object('status', r.status, 'location', r.location) end) as answer,
  r.resource_id as "resourceId", r.revision, r.audit_record_id as "auditRecordId"`;

/** The key that a command comes by, and who sends which command. */
interface KeyClaim {
  readonly key: string | null;
  readonly caller: Principal;
  readonly operation: string;
}

/** Claims the key for this command, waiting for whoever claims it at this moment; answers the receipt of an earlier use. */
export async function claimKey<Answer>(
  tx: Transaction,
  { key, caller, operation }: KeyClaim,
  binding: Buffer,
  auditRecordId: string,
): Promise<Receipt<Answer> | undefined> {
  if (key === null) return undefined;
  const claimed = await tx.em.execute<{ key: string }[]>(
    `insert into command_receipts (key, principal_id, operation, binding, audit_record_id, created_at)
     select ?::uuid, ?::uuid, ?::text, ?::bytea, ?::uuid, clock_timestamp() where ${onlyOnceBegun}
     on conflict (key) do nothing returning key`,
    [key, caller.id, operation, binding, auditRecordId],
  );
  if (claimed.length > 0) return undefined;
  return readReceipt(tx.em, key, binding);
}

/** The receipt under a key. @throws Conflict where another command was bound to the key */
export async function readReceipt<Answer>(em: Em, key: string, binding: Buffer): Promise<Receipt<Answer> | undefined> {
  const rows = await em.execute<(Receipt<Answer> & { binding: Buffer })[]>(
    `select r.binding, ${columns} from command_receipts r where r.key = ?`,
    [key],
  );
  if (!rows[0]) return undefined;
  const { binding: bound, ...receipt } = rows[0];
  if (timingSafeEqual(bound, binding)) return receipt;
  throw new Conflict(
    'this Idempotency-Key was used for another request: send a fresh key, or repeat the original request unchanged',
  );
}

/** Keeps the receipt under the key that the transaction claimed. The release before this one reads `status` and `location`. */
export function completeReceipt<Answer>(
  tx: Transaction,
  key: string,
  { answer, resourceId, revision }: Receipt<Answer>,
): void {
  void tx.send(
    `update command_receipts r
        set answer = a.answer, status = coalesce((a.answer ->> 'status')::int, 0), location = a.answer ->> 'location',
            resource_id = ?, revision = ?
       from (select ?::jsonb as answer) a where r.key = ?`,
    [resourceId, revision, answer && JSON.stringify(answer), key],
  );
}

/**
 * The receipt of a principal's own command, whatever has become of what it was about; undefined where this snapshot has
 * none, which is no proof that there will be none. Principal and credential are judged in the same snapshot. A key of
 * somebody else's is answered as one that nobody used. (specification, *Original-key outcome and command keys*, rules 4, 5)
 * @throws Unauthenticated where the credential counts no more
 */
export async function readOwnReceipt<Answer>(
  em: Em,
  caller: Principal,
  key: string,
): Promise<RecordedReceipt<Answer> | undefined> {
  const { type, id } = caller.credential;
  const rows = await em.execute<(RecordedReceipt<Answer> | { key: null })[]>(
    `select r.key, r.operation, r.created_at as "createdAt", ${columns}
       from principals p left join command_receipts r on r.principal_id = p.id and r.key = ?
      where p.id = ? and p.enabled and p.deleted_at is null and ${credentialCounts[type]}`,
    [key, caller.id, id],
  );
  const [row] = rows;
  if (!row) throw new Unauthenticated('the credential is no longer valid');
  return row.key === null ? undefined : row;
}

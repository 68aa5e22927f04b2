import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { json } from '#database/tables.ts';
import { db } from '#domain/db.ts';
import type { Principal } from '../access/principal.ts';
import { isCredentialValid } from '../access/store.ts';
import { Unauthenticated } from '../errors.ts';
import { type Receipt, type RecordedReceipt, selectReceipt } from './receipts.ts';

/** Lets the senders of commands read and extend their own receipts. */

/** Adds members to the stored answer of a principal's own command, unless the answer has them already. */
export async function extendReceipt(
  em: Em,
  caller: Principal,
  key: string,
  members: Readonly<Record<string, unknown>>,
): Promise<void> {
  await db(em)
    .updateTable('command_receipts')
    .set(({ ref }) => ({ answer: sql`${json(members)}::jsonb || ${ref('answer')}` }))
    .where('key', '=', key)
    .where('principalId', '=', caller.id)
    .where('answer', 'is not', null)
    .execute();
}

/**
 * The receipt of a principal's own command, even if its target was deleted. Undefined if there is none yet; a running command may still
 * write one. Principal and credential are checked in the same snapshot. Somebody else's key gets the same answer as a key that was never
 * used. (specification, *Original-key outcome and command keys*, rules 4 and 5)
 * @throws Unauthenticated if the credential is no longer valid
 */
export async function readOwnReceipt<Answer>(
  em: Em,
  caller: Principal,
  key: string,
): Promise<RecordedReceipt<Answer> | undefined> {
  const { type, id } = caller.credential;
  const [row] = await db(em)
    .selectFrom('principals as p')
    .leftJoin('command_receipts as r', (join) =>
      join.onRef('r.principalId', '=', 'p.id').on('r.key', '=', key).on('r.isReserved', '=', false),
    )
    .where('p.id', '=', caller.id)
    .where('p.enabled', '=', true)
    .where('p.deletedAt', 'is', null)
    .where(isCredentialValid(type, id))
    .select(['r.key', 'r.operation', 'r.createdAt'])
    .select(selectReceipt)
    .$castTo<RecordedReceipt<Answer> | (Receipt<Answer> & { key: null })>()
    .execute();
  if (!row) throw new Unauthenticated('the credential is no longer valid');
  return row.key === null ? undefined : row;
}

import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { emailKey } from '#domain/identity/model.ts';

/** More principals of one name are not looked at. */
const maxCalled = 20;

/**
 * The ids of all principals with a whole name or an e-mail address, in any case: people, service accounts and background principals, also deleted ones. The
 * caller decides which of them the reader may know.
 */
export async function findPrincipalsCalled(em: Em, text: string): Promise<string[]> {
  const rows = await db(em)
    .selectFrom('principals as p')
    .leftJoin('users as u', 'u.id', 'p.id')
    .where((eb) => eb.or([eb(sql`lower(p.name)`, '=', text.toLowerCase()), eb('u.emailKey', '=', emailKey(text))]))
    .select('p.id')
    .orderBy('p.id')
    .limit(maxCalled)
    .execute();
  return rows.map(({ id }) => id);
}

import { type SqlBool, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { emailKey } from '#domain/identity/model.ts';
import { isReadableSubject } from '#domain/news/subjects.ts';
import { readPrincipals } from '#domain/shared/access/store.ts';
import { zeroId } from '#domain/shared/ids.ts';

/** The mailbox of a user. */
export interface Mailbox {
  readonly address: string;
  /** The address in the form by which addresses are compared. */
  readonly key: string | null;
  readonly isVerified: boolean;
}

/** The mailbox of a user; undefined if the user is disabled or deleted. */
export function findMailbox(em: Em, userId: string | null): Promise<Mailbox | undefined> {
  return db(em)
    .selectFrom('users as u')
    .innerJoin('principals as p', 'p.id', 'u.id')
    .where('u.id', '=', userId ?? zeroId)
    .where('p.enabled', '=', true)
    .where('p.deletedAt', 'is', null)
    .select(['u.email as address', 'u.emailKey as key', 'u.emailVerified as isVerified'])
    .executeTakeFirst();
}

/** Whether a user may now read the subject of a message. */
export async function mayStillRead(em: Em, messageId: string, userId: string | null): Promise<boolean> {
  const user = (await readPrincipals(em, [userId ?? zeroId])).get(userId ?? zeroId);
  if (!user) return false;
  const readable = await db(em)
    .selectFrom('outgoing_messages as n')
    .where('n.id', '=', messageId)
    .where((eb) => isReadableSubject({ kind: eb.ref('n.subjectKind'), id: eb.ref('n.subjectId') }, user))
    .select('n.id')
    .executeTakeFirst();
  return readable !== undefined;
}

/**
 * Those of the addresses that belong only to users who must not receive the messages of a channel: they are disabled, deleted, or neither
 * members of its organization nor platform administrators. An address that no user has confirmed, such as that of a mailing list, is not
 * withheld.
 * @returns the addresses in the form by which addresses are compared
 */
export async function findWithheldAddresses(
  em: Em,
  { organizationId }: { readonly organizationId: string | null },
  addresses: readonly string[],
): Promise<ReadonlySet<string>> {
  const isMember = sql<SqlBool>`exists (select from organization_members m
    where m.principal_id = u.id and m.organization_id = ${organizationId ?? zeroId})`;
  const mayHear = sql<SqlBool>`p.enabled and p.deleted_at is null
    and (${organizationId === null} or p.role = 'admin' or ${isMember})`;
  const users = await db(em)
    .selectFrom('users as u')
    .innerJoin('principals as p', 'p.id', 'u.id')
    .where((eb) => eb(eb.fn<string>('lower', ['u.email']), '=', eb.fn.any(eb.val(addresses.map(emailKey)))))
    .where('u.emailVerified', '=', true)
    .select((eb) => eb.fn<string>('lower', ['u.email']).as('key'))
    .groupBy((eb) => eb.fn<string>('lower', ['u.email']))
    .having(sql<SqlBool>`not bool_or(${mayHear})`)
    .execute();
  return new Set(users.map(({ key }) => key));
}

/** `findWithheldAddresses` for one address. */
export async function isWithheldAddress(
  em: Em,
  channel: { readonly organizationId: string | null },
  address: string,
): Promise<boolean> {
  return (await findWithheldAddresses(em, channel, [address])).size > 0;
}

import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { emailKey } from '#domain/identity/model.ts';
import { isReadableSubject } from '#domain/news/subjects.ts';
import { readPrincipals } from '#domain/shared/access/store.ts';
import { zeroId } from '#domain/shared/ids.ts';

/** Where a user gets e-mail. */
export interface Mailbox {
  readonly address: string;
  /** The address in the form by which addresses are compared. */
  readonly key: string | null;
  readonly isVerified: boolean;
}

/** The mailbox of a user; undefined for one who is disabled or gone. */
export function findMailbox(em: Em, userId: string | null): Promise<Mailbox | undefined> {
  return db(em)
    .selectFrom('users as u')
    .innerJoin('principals as p', 'p.id', 'u.id')
    .where('u.id', '=', userId ?? zeroId)
    .where('p.enabled', '=', true)
    .where('p.deleted_at', 'is', null)
    .select(['u.email as address', 'u.email_key as key', 'u.email_verified as isVerified'])
    .executeTakeFirst();
}

/** Whether a user may read now what a message is about. */
export async function mayStillRead(em: Em, messageId: string, userId: string | null): Promise<boolean> {
  const user = (await readPrincipals(em, [userId ?? zeroId])).get(userId ?? zeroId);
  if (!user) return false;
  const readable = await db(em)
    .selectFrom('outgoing_messages as n')
    .where('n.id', '=', messageId)
    .where((eb) => isReadableSubject({ kind: eb.ref('n.subject_kind'), id: eb.ref('n.subject_id') }, user))
    .select('n.id')
    .executeTakeFirst();
  return readable !== undefined;
}

/**
 * Whether an address is known to be that of a user, and none of the users whose it is may hear of what the owner of a channel owns: they are disabled,
 * deleted, or neither members of its organization nor platform administrators. An address that no user has confirmed, such as that of a list, counts as
 * nobody's.
 */
export async function belongsToUserWhoMayNotHear(
  em: Em,
  { organizationId }: { readonly organizationId: string | null },
  address: string,
): Promise<boolean> {
  const users = await db(em)
    .selectFrom('users as u')
    .innerJoin('principals as p', 'p.id', 'u.id')
    .where((eb) => eb(eb.fn<string>('lower', ['u.email']), '=', emailKey(address)))
    .where('u.email_verified', '=', true)
    .select((eb) => [
      'p.enabled',
      'p.deleted_at as deletedAt',
      'p.role',
      eb
        .exists(
          eb
            .selectFrom('organization_members as m')
            .whereRef('m.principal_id', '=', 'u.id')
            .where('m.organization_id', '=', organizationId ?? zeroId)
            .select('m.principal_id'),
        )
        .$castTo<boolean>()
        .as('isMember'),
    ])
    .execute();
  const hears = users.some(
    ({ enabled, deletedAt, role, isMember }) =>
      enabled && deletedAt === null && (isMember || role === 'admin' || organizationId === null),
  );
  return users.length > 0 && !hears;
}

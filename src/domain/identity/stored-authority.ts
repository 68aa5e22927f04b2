import { type Expression, expressionBuilder, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import type { Tables } from '#domain/entities.ts';
import { type Credential, noCredential, type Principal } from '#domain/shared/access/principal.ts';
import { readPrincipals } from '#domain/shared/access/store.ts';
import { findKeyById, selectState } from './api-keys/store.ts';

/** The authority under which the service starts work later, kept in a row by the command that saved the work. */
export interface StoredAuthority {
  readonly authorityId: string;
  /** The API key or the session that was used. Older rows have none. */
  readonly credentialId?: string | null | undefined;
  /** The person who answered for the command. */
  readonly responsibleUserId?: string | null | undefined;
}

/** Why a stored authority can no longer be used. */
export type LostAuthority = 'gone' | 'disabled' | 'key_revoked' | 'key_expired';

/** The codes by which things that act under a stored authority report that it was lost. */
export const lostAuthorities = {
  gone: 'authority_gone',
  disabled: 'authority_disabled',
  key_revoked: 'key_revoked',
  key_expired: 'key_expired',
} as const satisfies Record<LostAuthority, string>;

export class AuthorityEnded extends Error {
  readonly reason: LostAuthority;

  constructor(reason: LostAuthority) {
    super(`the stored authority has ended: ${reason}`);
    this.name = 'AuthorityEnded';
    this.reason = reason;
  }
}

export function storedAuthorityOf({ id, credential, responsibleUserId }: Principal): StoredAuthority {
  return { authorityId: id, credentialId: credential.id, responsibleUserId };
}

/**
 * The principal of a stored authority as it is now, with the API key that was used: a command that acts for it checks it again when it
 * commits. The authority outlives a session, because a session only proves the identity of a user.
 * @throws AuthorityEnded if the principal was deleted or disabled, or the key is no longer valid
 */
export async function findStoredPrincipal(em: Em, authority: StoredAuthority): Promise<Principal> {
  const principal = (await readPrincipals(em, [authority.authorityId])).get(authority.authorityId);
  if (!principal) throw new AuthorityEnded('gone');
  if (!principal.enabled) throw new AuthorityEnded('disabled');
  return answeredFor({ ...principal, credential: await findCredential(em, authority) }, authority);
}

/** The columns of a stored authority. */
interface AuthorityColumns {
  readonly authorityId: Expression<string>;
  readonly credentialId: Expression<string | null>;
}

/** Why `findStoredPrincipal` would refuse the authority in a row, as one of `words`; null if it would not. */
export function selectLostAuthority<Word extends string>(
  { authorityId, credentialId }: AuthorityColumns,
  words: Readonly<Record<LostAuthority, Word>>,
) {
  const eb = expressionBuilder<Tables>();
  const principal = eb.selectFrom('principals as p').where('p.id', '=', authorityId).where('p.deletedAt', 'is', null);
  const key = eb
    .selectFrom('api_keys as k')
    .where('k.id', '=', eb.fn.coalesce(credentialId, authorityId))
    .select((of) =>
      of
        .case(selectState(of))
        .when('revoked')
        .then<Word | null>(words.key_revoked)
        .when('expired')
        .then<Word | null>(words.key_expired)
        .else(null)
        .end()
        .as('lost'),
    );
  return eb
    .case()
    .when(eb.not(eb.exists(principal.select(sql.lit(1).as('one')))))
    .then<Word | null>(words.gone)
    .when(eb.not(eb.exists(principal.where('p.enabled', '=', true).select(sql.lit(1).as('one')))))
    .then<Word | null>(words.disabled)
    .else(key)
    .end();
}

/** The principal with the person who answered for the command, under whose responsibility its actions are recorded. */
export function answeredFor(
  principal: Principal,
  { responsibleUserId }: Pick<StoredAuthority, 'responsibleUserId'>,
): Principal {
  return { ...principal, responsibleUserId: responsibleUserId ?? null };
}

/** Keys are never deleted, so an id that is not the id of a key is that of a session. */
async function findCredential(em: Em, { authorityId, credentialId }: StoredAuthority): Promise<Credential> {
  const id = credentialId ?? authorityId;
  const key = await findKeyById(em, id);
  if (!key) return noCredential(id);
  if (key.state !== 'active') throw new AuthorityEnded(`key_${key.state}`);
  return { type: 'api_key', id, issuedBy: key.issuedBy };
}

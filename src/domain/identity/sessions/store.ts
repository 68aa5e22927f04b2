import { sql } from 'kysely';
import type { ParameterOf } from '#database/queries.ts';
import { prepare } from '#domain/db.ts';
import { selectPrincipal } from '#domain/shared/access/store.ts';

/** The user of an active session. */
export const findPrincipalBySession = prepare((db, parameter: ParameterOf<{ sessionId: string; userId: string }>) =>
  db
    .selectFrom('sessions as s')
    .innerJoin('principals as p', 'p.id', 's.user_id')
    .where('s.id', '=', parameter('sessionId'))
    .where('s.user_id', '=', parameter('userId'))
    .where('s.revoked_at', 'is', null)
    .where('s.expires_at', '>', sql<string>`now()`)
    .where('p.enabled', '=', true)
    .where('p.deleted_at', 'is', null)
    .select(selectPrincipal),
);

/** The user with this e-mail address, with what is kept of their password. */
export const findPrincipalByEmail = prepare((db, parameter: ParameterOf<{ emailKey: string }>) =>
  db
    .selectFrom('users as u')
    .innerJoin('principals as p', 'p.id', 'u.id')
    .where('u.email_key', '=', parameter('emailKey'))
    .where('p.deleted_at', 'is', null)
    .select(['u.password_hash', 'u.password_generation'])
    .select(selectPrincipal),
);

import { sql } from 'kysely';
import type { ParameterOf } from '#database/queries.ts';
import { prepare } from '#domain/db.ts';
import { selectPrincipal } from '#domain/shared/access/store.ts';

export const findPrincipalByVerifier = prepare((db, parameter: ParameterOf<{ verifier: Buffer }>) =>
  db
    .selectFrom('api_keys as k')
    .innerJoin('principals as p', 'p.id', 'k.principal_id')
    .leftJoin('api_key_uses as use', 'use.key_id', 'k.id')
    .where('k.verifier', '=', parameter('verifier'))
    .where('k.revoked_at', 'is', null)
    .where((eb) => eb.or([eb('k.expires_at', 'is', null), eb('k.expires_at', '>', sql<string>`now()`)]))
    .where('p.enabled', '=', true)
    .where('p.deleted_at', 'is', null)
    .select(['k.id as key_id', 'k.issued_by'])
    .select(sql<boolean>`coalesce(use.last_used_at < now() - interval '1 minute', true)`.as('stale'))
    .select(selectPrincipal),
);

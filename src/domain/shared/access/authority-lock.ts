import { type Expression, type Kysely, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import type { ParameterOf } from '#database/queries.ts';
import { prepare } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';

/**
 * The advisory lock of a principal's authority. Each command of the principal shares it, and a command that changes the principal's
 * authority or credentials holds it alone. A row lock is not enough, because PostgreSQL lets new commands share a row while a revocation
 * waits for it. A principal that keeps sending commands could then prevent its own revocation. Advisory locks are granted in the order in
 * which they were requested.
 */
export function authorityLock(principalId: string): string {
  return `principals/${principalId}`;
}

/** The number by which PostgreSQL knows the advisory lock with a name. */
function numberOf(name: string | Expression<string>) {
  return sql`hashtextextended('delivery-coordinator/' || ${name}::text, 0)`;
}

/** The number of `authorityLock` for a row of `principals`. */
const ofRow = numberOf(sql`${authorityLock('')}::text || ${sql.ref('principals.id')}::text`);

/** Waits for an advisory lock with a name. The transaction holds it until the commit. */
const takeLock = {
  shared: prepare((queries, parameter: ParameterOf<{ name: string }>) =>
    queries.selectNoFrom(sql`pg_advisory_xact_lock_shared(${numberOf(parameter('name'))})`.as('locked')),
  ),
  alone: prepare((queries, parameter: ParameterOf<{ name: string }>) =>
    queries.selectNoFrom(sql`pg_advisory_xact_lock(${numberOf(parameter('name'))})`.as('locked')),
  ),
};

/**
 * Takes the locks of commands that change principals first, and then the others, each in the order of their names. So a revocation that
 * waits for the commands of one principal delays no change of another principal.
 */
export async function takeAdvisoryLocks(em: Em, names: readonly string[], callerId: string): Promise<void> {
  if (names.length === 0) return;
  const own = authorityLock(callerId);
  const isOfPrincipal = (name: string) => name.startsWith(authorityLock(''));
  const ofPrincipals = [...new Set([...names.filter(isOfPrincipal), own])].sort();
  const others = names.filter((name) => !isOfPrincipal(name)).sort();
  const modeOf = (name: string) => (names.includes(name) ? 'alone' : 'shared');
  await Promise.all([...ofPrincipals, ...others].map((name) => takeLock[modeOf(name)](em, { name })));
}

/** Waits for one advisory lock, for a rule that has no row to lock. Take it after the locks on the rows of the target. */
export async function takeAdvisoryLock(em: Em, name: string): Promise<void> {
  await takeLock.alone(em, { name });
}

/** Waits for advisory locks one after the other, in the order of the names, by one statement. */
export async function takeAdvisoryLocksInOrder(em: Em, names: readonly string[]): Promise<void> {
  if (names.length > 0) await takeLocks(em, { names });
}

const takeLocks = prepare((queries, parameter: ParameterOf<{ names: readonly string[] }>) =>
  queries
    .selectFrom(sql<{ name: string }>`unnest(${parameter('names')}::text[])`.as<'l'>(sql`l(name)`))
    .select(sql`pg_advisory_xact_lock(${numberOf(sql<string>`l.name`)})`.as('locked')),
);

/**
 * Takes share locks on the authority of one principal until the commit. One statement takes the advisory lock and the row lock: PostgreSQL
 * evaluates the selected expressions before it locks the rows.
 */
export function sharingAuthority(queries: Kysely<Tables>, id: string | Expression<string>) {
  return queries
    .selectFrom('principals')
    .where('id', '=', id)
    .select(sql`pg_advisory_xact_lock_shared(${ofRow})`.as('locked'))
    .forShare();
}

/** Takes share locks on a principal's authority until the commit, for a command that relies on it. */
export const sharePrincipal = prepare((queries, parameter: ParameterOf<{ id: string }>) =>
  sharingAuthority(queries, parameter('id')),
);

/**
 * Waits for the running commands of a principal, and makes its next commands wait for this transaction. Call it before the principal's row
 * is changed, or after something was taken away from the principal, such as a key: later commands then see the change. A command whose
 * caller or path is the principal also declares `authorityLock`, so that it waits before it holds other locks.
 */
export async function lockAgainstUse(tx: Em, principalId: string): Promise<void> {
  await lockPrincipals(tx, { ids: [principalId] });
}

/** `lockAgainstUse` for several principals, in the order of their ids. */
export const lockPrincipals = prepare((queries, parameter: ParameterOf<{ ids: readonly string[] }>) =>
  queries
    .selectFrom('principals')
    .where('id', '=', (eb) => eb.fn.any(eb.val(parameter('ids'))))
    .select(sql`pg_advisory_xact_lock(${ofRow})`.as('locked'))
    .orderBy('id')
    .forNoKeyUpdate(),
);

/** Takes share locks on the authority of several principals until the commit, in the order of their ids. */
export const sharePrincipals = prepare((queries, parameter: ParameterOf<{ ids: readonly string[] }>) =>
  queries
    .selectFrom('principals')
    .where('id', '=', (eb) => eb.fn.any(eb.val(parameter('ids'))))
    .select(sql`pg_advisory_xact_lock_shared(${ofRow})`.as('locked'))
    .orderBy('id')
    .forShare(),
);

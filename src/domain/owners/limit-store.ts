import type { Em } from '#database/database.ts';
import { declaredTables } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import { takeAdvisoryLock } from '#domain/shared/access/authority-lock.ts';
import { Conflict } from '#domain/shared/errors.ts';
import type { RowOwner } from './owner.ts';

/** Things of which an owner may have a limited number: rows of a table with `ownerColumns`. */
export interface Limited {
  readonly table: keyof Tables & string;
  /** In the plural, as the refusal names them. */
  readonly name: string;
  readonly max: number;
}

/**
 * Refuses a further thing of an owner that has reached the limit. Until the commit, nobody else counts or adds such things of the owner.
 * @throws Conflict with `limit_reached`
 */
export async function refuseBeyondLimit(
  em: Em,
  { columns: { organizationId, teamId, projectId } }: Pick<RowOwner, 'columns'>,
  { table, name, max }: Limited,
): Promise<void> {
  await takeAdvisoryLock(em, `owned/${table}/${projectId ?? teamId ?? organizationId ?? 'installation'}`);
  const { count } = await declaredTables(em)
    .selectFrom(`${table} as x`)
    .where('x.organizationId', 'is not distinct from', organizationId)
    .where('x.teamId', 'is not distinct from', teamId)
    .where('x.projectId', 'is not distinct from', projectId)
    .select((eb) => eb.fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow();
  if (Number(count) >= max)
    throw new Conflict(`an owner has at most ${max} ${name}: delete one first`, 'limit_reached');
}

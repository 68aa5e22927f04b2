import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { isOfReadableOwner } from '#domain/owners/rows-store.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { readGivenDefaults } from '#domain/variables/environment-values-store.ts';
import type { VariableSource } from '#domain/variables/model.ts';

/** The default that runs of an environment get for a variable of their template, without what the reader may not read. */
export interface GivenDefault {
  readonly name: string;
  readonly isSecret: boolean;
  /** Null for a secret, and for a variable of a set that the reader may not read. */
  readonly value: JsonValue;
  /** Null if it is a set that the reader may not read. */
  readonly from: VariableSource | null;
}

/**
 * The defaults that an environment and its attached variable sets give its runs. For each name, it returns the one that takes precedence,
 * as in `loadEnvironmentVariables`. This does not check whether the principal may read the environment.
 */
export async function findGivenDefaults(em: Em, principal: Principal, environmentId: string): Promise<GivenDefault[]> {
  const rows = await readGivenDefaults(em, { environmentId });
  // The last one of each name takes precedence.
  const winners = [...new Map(rows.map((row) => [row.name, row])).values()];
  const sets = winners.filter(({ holderKind }) => holderKind === 'variable_set').map(({ holderId }) => holderId);
  const readable = await findReadableSets(em, principal, sets);
  return winners.map(({ name, sensitive: isSecret, value, holderKind: kind, holderId: id, holderName }) =>
    kind === 'environment' || readable.has(id)
      ? { name, isSecret, value, from: { kind, id, name: holderName } }
      : { name, isSecret, value: null, from: null },
  );
}

async function findReadableSets(em: Em, principal: Principal, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const rows = await db(em)
    .selectFrom('variable_sets as s')
    .where((eb) => eb('s.id', '=', eb.fn.any(eb.val([...new Set(ids)]))))
    .where((eb) => {
      const refs = {
        organization: eb.ref('s.organizationId'),
        team: eb.ref('s.teamId'),
        project: eb.ref('s.projectId'),
      };
      return isOfReadableOwner(principal, refs, 'visible');
    })
    .select('s.id')
    .execute();
  return new Set(rows.map(({ id }) => id));
}

import type { SelectQueryBuilder } from 'kysely';

const shown = 5;

/** The first few names that an ordered query selects, and one more if there are more. */
export async function findNames<Db, From extends keyof Db>(
  query: SelectQueryBuilder<Db, From, { name: string }>,
): Promise<string[]> {
  const rows = await query.limit(shown + 1).execute();
  return rows.map(({ name }) => name);
}

/** The first few names as a text that says whether there are more. */
export function enumerate(names: readonly string[]): string {
  return names.length > shown ? `${names.slice(0, shown).join(', ')} and more` : names.join(', ');
}

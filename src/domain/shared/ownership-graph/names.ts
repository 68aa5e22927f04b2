import type { Em } from '#database/database.ts';

const named = 5;

/** What the first few that an ordered query selects are called, and one more where there are more. */
export async function findNames(em: Em, select: string, params: readonly unknown[]): Promise<string[]> {
  const rows = await em.execute<{ name: string }[]>(`${select} limit ?`, [...params, named + 1]);
  return rows.map(({ name }) => name);
}

/** The first few names, and whether there are more. */
export function enumerate(names: readonly string[]): string {
  return names.length > named ? `${names.slice(0, named).join(', ')} and more` : names.join(', ');
}

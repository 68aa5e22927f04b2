import type { Em } from '#database/database.ts';
import { readGivenNames } from './environment-values-store.ts';
import type { VariableCategory, VariableSource } from './model.ts';
import { planGetsSecret } from './plan-value-rules.ts';

/** A variable that an environment or a set could give the runs of an environment. */
export interface GivenName {
  readonly name: string;
  readonly category: VariableCategory;
  readonly from: VariableSource;
  /** It is a secret, and planning gets the value that applying gets. */
  readonly planGetsSecret: boolean;
  /** The source that takes precedence over it; null if runs get it. */
  readonly winner: VariableSource | null;
}

/**
 * All variables that the environment and its sets could give the runs, ordered by name and without values. Each has the source that takes
 * precedence over it.
 */
export async function findGivenNames(em: Em, environmentId: string): Promise<GivenName[]> {
  const rows = await readGivenNames(em, { environmentId });
  const given = rows.map(({ name, category, holderKind, holderId, holderName, ...row }) => {
    const from: VariableSource = { kind: holderKind, id: holderId, name: holderName };
    return { name, category, from, planGetsSecret: planGetsSecret(row) };
  });
  // The last one of each category and name takes precedence.
  const winners = new Map(given.map(({ name, category, from }) => [`${category} ${name}`, from]));
  // The rows contain each variable of a set twice if the set is attached to both the environment and its project.
  const once = new Map(given.map((each) => [`${each.from.id} ${each.category} ${each.name}`, each]));
  return [...once.values()]
    .map((each) => {
      const winner = winners.get(`${each.category} ${each.name}`) ?? null;
      return { ...each, winner: winner?.id === each.from.id ? null : winner };
    })
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

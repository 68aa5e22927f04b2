import type { Em } from '#database/database.ts';
import { installationOwnership, type Ownership } from '../access/decide.ts';
import { findOwners, type OwnerLevel, type Owners, ownerLevels } from './owners.ts';
import { toOwnership } from './owning-team.ts';

/** The ids by which a list is filtered, by the level of the owners that they name. */
export type OwnerFilters = Readonly<Partial<Record<OwnerLevel, string>>>;

/** The owner of the entries of a list: the innermost one that its filters name, or the installation if they name none. */
export interface ListOwner extends Ownership {
  /** All owners that the filters name. A reader of the list must be allowed to read each of them. */
  readonly named: readonly Ownership[];
  /** Two filters that no entry can fit at once; null if there are none. Show it only to a reader of all their owners. */
  readonly contradiction: Contradiction | null;
}

export interface Contradiction {
  readonly levels: readonly OwnerLevel[];
  /** Why no entry fits both, as the end of a sentence. */
  readonly reason: string;
}

/** Finds the owners that the filters of a list name; undefined if one of them does not exist. */
export async function findListOwner(em: Em, filters: OwnerFilters): Promise<ListOwner | undefined> {
  const given = ownerLevels.flatMap((level) => (filters[level] === undefined ? [] : [{ level, id: filters[level] }]));
  const found = await Promise.all(given.map(({ level, id }) => findOwners(em, level, id)));
  const owners = found.filter((each) => each !== undefined);
  if (owners.length < given.length) return undefined;
  const named = owners.map(toOwnership);
  const levels = given.map(({ level }) => level);
  return { ...(named.at(-1) ?? installationOwnership), named, contradiction: findContradiction(levels, owners) };
}

function findContradiction(levels: readonly OwnerLevel[], owners: readonly Owners[]): Contradiction | null {
  for (const [index, one] of owners.entries()) {
    const other = owners.findIndex((each, at) => at > index && !agree(one, each));
    if (other >= 0)
      return { levels: [levels[index]!, levels[other]!], reason: 'they have different owners, so nothing fits both' };
  }
  return null;
}

/** Whether an entry can belong to both: they agree at every level at which both are known. */
function agree(one: Owners, other: Owners): boolean {
  return ownerLevels.every(
    (level) => one[level] === undefined || other[level] === undefined || one[level] === other[level],
  );
}

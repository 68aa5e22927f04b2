import { isDeepStrictEqual } from 'node:util';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { EnvironmentVariables } from '#domain/variables/loaded.ts';
import type { HistoryEntry } from '../change/history.ts';
import { inputsOf, type Leaves, leavesOf, liesIn, namesOf, pointer, type Secrets } from '../change/leaves.ts';
import { type Deployments, givenNames } from '../deployments/deployments.ts';

/** The values that the environment now gives its runs. */
export interface GivenNow {
  readonly template: EnvironmentVariables['template'];
  /** The same values, converted for the version that would be deployed. */
  readonly defaults: Readonly<Record<string, JsonValue>>;
  /** The variables of that version. */
  readonly declared: ReadonlySet<string>;
}

interface Kept {
  readonly leaves: Leaves;
  /** The variables that the new run gets from its environment. */
  readonly given: readonly string[];
}

/**
 * Replaces values of the candidate by the current ones of the environment or a variable set. It does so for variables that have changed
 * there since the run before the undone one, and for every secret, because an earlier secret may have been revoked. A variable to which the
 * undo restores the earlier value is not replaced.
 */
export function keepGiven(
  leaves: Leaves,
  entry: HistoryEntry,
  { runs, secrets }: Pick<Deployments, 'runs' | 'secrets'>,
  { template, defaults, declared }: GivenNow,
): Kept {
  const takenBack = namesOfVariables(entry.changes);
  const changed = namesOfVariables(entry.kept);
  const { variables } = inputsOf(leaves);
  const given = [...givenNames(runs.at(-1)?.inputs ?? null)].filter(
    (name) => Object.hasOwn(defaults, name) && Object.hasOwn(variables, name) && declared.has(name),
  );
  const isFollowed = (name: string) =>
    changed.has(name) || secrets.names.has(name) || (template[name]?.sensitive ?? false);
  const isSame = (name: string) => isDeepStrictEqual(variables[name], defaults[name]);
  const free = given.filter((name) => !takenBack.has(name));
  const followed = free.filter((name) => isFollowed(name) && !isSame(name));
  const replaced = followed.reduce((all, name) => replace(all, name, defaults[name] ?? null, secrets), leaves);
  return { leaves: replaced, given: free.filter((name) => isFollowed(name) || isSame(name)) };
}

/** The names of the template variables that changes concern. */
export function namesOfVariables(changes: readonly { readonly path: string }[]): ReadonlySet<string> {
  return new Set(
    changes.flatMap(({ path }) => {
      const [kind, name] = namesOf(path);
      return kind === 'variables' && name !== undefined ? [name] : [];
    }),
  );
}

function replace(leaves: Leaves, name: string, value: JsonValue, secrets: Secrets): Leaves {
  const path = pointer('/variables', name);
  const others = [...leaves].filter(([other]) => other !== path && !liesIn(other, path));
  const own = [...leavesOf({ version: '', variables: { [name]: value }, environment: {} }, secrets)];
  return new Map([...others, ...own.filter(([other]) => other !== '/version')]);
}

import type { Em } from '#database/database.ts';
import type { NamedKind } from '#domain/searched-kinds.ts';
import { type Names, readNames } from '#domain/tenancy/names.ts';
import type { Choice, Choices } from './choices.ts';

/** A thing that a field offers by its name. */
export interface NamedThing {
  readonly id: string;
  readonly name: string;
  /** A text before the name, such as "Project ". */
  readonly before?: string;
  /** The name of its project, unless `name` contains it. */
  readonly project?: string | null;
  /** The team that owns it. Null or undefined: the installation. */
  readonly team_id?: string | null;
}

/**
 * The levels around a thing, from the nearest to the farthest. While several choices have the same label, the next level is put before
 * their names.
 */
const levels: readonly ((thing: NamedThing, names: Names) => string | null | undefined)[] = [
  ({ project }) => project,
  ({ team_id: id }, names) => names.get(id ?? '')?.name,
  ({ team_id: id }, names) => names.get(names.get(id ?? '')?.organizationId ?? '')?.name,
];

/**
 * The choices for things, in their order. Those with the same label get the name of their team, as in "Core / Network / Production", and
 * that of their organization if necessary.
 */
export async function nameChoices(em: Em, things: readonly NamedThing[]): Promise<Choice[]> {
  const plain = things.map(({ id, name, before = '' }) => ({ value: id, label: before + name }));
  const repeated = findRepeated(plain);
  if (repeated.size === 0) return plain;
  const names = await readOwners(
    em,
    things.filter((_thing, index) => repeated.has(plain[index]?.label ?? '')),
  );
  let paths = things.map(({ name }) => name);
  const toChoices = () =>
    things.map(({ id, before = '' }, index) => ({ value: id, label: `${before}${paths[index]}` }));
  for (const outerOf of levels) {
    const choices = toChoices();
    const alike = findRepeated(choices);
    paths = things.map((thing, index) => {
      const path = paths[index] ?? '';
      const outer = alike.has(choices[index]?.label ?? '') ? outerOf(thing, names) : null;
      return outer ? `${outer} / ${path}` : path;
    });
  }
  return toChoices();
}

/** The choices from one page of a list, by name. */
export async function choicesOf(
  em: Em,
  {
    things,
    next,
    kind,
  }: { readonly things: readonly NamedThing[]; readonly next: string | null; readonly kind?: NamedKind },
): Promise<Choices> {
  return { choices: await nameChoices(em, things), isCut: next !== null, choiceKinds: kind && [kind] };
}

/** The labels that several choices have. */
function findRepeated(choices: readonly Choice[]): ReadonlySet<string> {
  const seen = new Set<string>();
  return new Set(choices.flatMap(({ label }) => (seen.size === seen.add(label).size ? [label] : [])));
}

/** The names of the teams that own things, and of their organizations. */
async function readOwners(em: Em, things: readonly NamedThing[]): Promise<Names> {
  const teams = await readNames(em, { teams: things.map(({ team_id: id }) => id ?? null) });
  const organizations = await readNames(em, {
    organizations: [...teams.values()].map(({ organizationId }) => organizationId),
  });
  return new Map([...teams, ...organizations]);
}

import type { Em } from '#database/database.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import { type BindingProblem, findBindingProblems } from './binding-problems.ts';
import { ConnectionRefused } from './errors.ts';
import type { ConnectionNeed } from './model.ts';
import { type BindingPlace, type EffectiveBinding, phasesOf, readEffectiveBindings } from './store.ts';

/** The place of a run. Connections are bound only to environments and their projects. */
export interface RunPlace extends Ownership {
  readonly projectId: string | null;
  readonly environmentId: string | null;
}

/**
 * The connections that the bindings of an environment and its project provide to a run, in the order of its template's needs. A binding of
 * the environment replaces the project's of the same name. The requester of the run needs no permission for a connection, but the person
 * who bound it must still have it. `lock` takes share locks on bindings and connections until the commit.
 * @throws ConnectionRefused naming the connection that cannot be used
 */
export async function resolveConnections(
  em: Em,
  needs: readonly ConnectionNeed[],
  { organizationId, teamId, projectId, environmentId }: RunPlace,
  lock: boolean,
): Promise<EffectiveBinding[]> {
  const [first] = needs;
  if (first === undefined) return [];
  if (organizationId === null || teamId === null || projectId === null || environmentId === null)
    throw new ConnectionRefused(
      'connection_unbound',
      `the template needs the connection "${first.name}" (${first.kind}), which only environments give: name an environment`,
    );
  const place = { organizationId, teamId, projectId, environmentId };
  const found = await readEffectiveBindings(
    em,
    place,
    needs.map(({ name }) => name),
    lock,
  );
  const bindings = needs.map((need) => choose(need, found));
  await refuseUnusable(em, place, bindings);
  refuseConflicts(bindings);
  return bindings;
}

/** A refusal does not name the connection, because the requester of the run may not be allowed to read it. */
function choose({ name, kind }: ConnectionNeed, found: readonly EffectiveBinding[]): EffectiveBinding {
  const named = found.filter((binding) => binding.name === name);
  const binding = named.find(({ environmentId }) => environmentId !== null) ?? named[0];
  if (!binding)
    throw new ConnectionRefused(
      'connection_unbound',
      `the template needs the connection "${name}" (${kind}): bind one of that kind to the environment or its project`,
    );
  if (binding.kind !== kind)
    throw new ConnectionRefused(
      'connection_unfit',
      `the template needs the connection "${name}" to be of the kind ${kind}, and the bound one is of the kind ${binding.kind}: bind another`,
    );
  return binding;
}

async function refuseUnusable(em: Em, place: BindingPlace, bindings: readonly EffectiveBinding[]): Promise<void> {
  const problems = await findBindingProblems(em, place, bindings);
  for (const binding of bindings) {
    const problem = problems.get(binding.id) ?? null;
    if (problem !== null) throw new ConnectionRefused(problem, explain(problem, binding));
  }
}

function explain(problem: NonNullable<BindingProblem>, { name, boundByName }: EffectiveBinding): string {
  if (problem === 'connection_elsewhere')
    return `the connection that is bound as "${name}" belongs to other owners by now: bind one that the environment may use`;
  return `the connection "${name}" was bound by ${boundByName ?? 'a deleted user'}, who may no longer do so: a person who may use connections and change the environment binds it again`;
}

/** Refuses bindings that set the same variable, because nobody has decided which value a program would get. */
function refuseConflicts(bindings: readonly EffectiveBinding[]): void {
  const providers = new Map<string, EffectiveBinding>();
  for (const binding of bindings) {
    for (const [phase, variable] of phasesOf(binding).flatMap((each) => binding.provides.map((name) => [each, name]))) {
      const other = providers.get(`${phase} ${variable}`);
      if (other)
        throw new ConnectionRefused(
          'connection_conflict',
          `the connections "${other.name}" and "${binding.name}" both provide the environment variable ${variable}: bind one of them for other phases, or another connection`,
        );
      providers.set(`${phase} ${variable}`, binding);
    }
  }
}

import { isDeepStrictEqual } from 'node:util';
import type { RunInputs } from '#domain/runs/admission/inputs/inputs.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { isSameLeaf, type Leaf, type Leaves, liesIn, pointer } from '../change/leaves.ts';
import type { Deployment, Deployments } from '../deployments/deployments.ts';
import type { Candidate } from './candidate.ts';

/**
 * A secret variable of a candidate that the person who asks did not provide; null if there is none. Without this rule, somebody who may
 * create runs could choose an address, and have another person's secret sent there by undoing a run. Such a secret is safe only if the
 * candidate repeats a deployment (`findRepeated`). Secrets among `given`, the defaults that every new run gets from the environment, do not
 * count.
 */
export function findSecretOfOthers(
  { sensitive, variables, leaves }: Candidate,
  { runs }: Pick<Deployments, 'runs'>,
  { person, given }: { readonly person: string; readonly given: Readonly<Record<string, JsonValue>> },
): string | null {
  const isGiven = (name: string) => Object.hasOwn(variables, name) && isDeepStrictEqual(given[name], variables[name]);
  const isAtRisk = (name: string) => {
    const known = runs.filter((run) => isKnownTo(person, run, name));
    const isKnown = (path: string, leaf: Leaf) => known.some((run) => isSameLeaf(run.leaves.get(path), leaf));
    return leavesOfVariable(leaves, name).some(([path, leaf]) => leaf.kind !== 'object' && !isKnown(path, leaf));
  };
  return sensitive.find((name) => !isGiven(name) && isAtRisk(name)) ?? null;
}

/** The inputs of the deployments that had exactly the version and the variables of a candidate. */
export function findRepeated({ leaves }: Candidate, { runs }: Deployments): RunInputs[] {
  return runs.filter((run) => isSameDeployment(run.leaves, leaves)).flatMap(({ inputs }) => inputs ?? []);
}

/** Compares everything except the environment variables: `resolveCandidate` compares them once the run has its present ones. */
function isSameDeployment(one: Leaves, other: Leaves): boolean {
  const isInput = ([path]: readonly [string, Leaf]) => !liesIn(path, '/environment');
  const [inputs, others] = [[...one].filter(isInput), [...other].filter(isInput)];
  return inputs.length === others.length && inputs.every(([path, leaf]) => isSameLeaf(other.get(path), leaf));
}

/**
 * Whether a person provided the value that a variable had in a run, or could read it there because it was not secret yet. A run keeps
 * secrets of other persons, such as one that starts from the deployment or follows an output, so being responsible for it is not enough.
 */
function isKnownTo(person: string, { row, inputs }: Deployment, name: string): boolean {
  if (inputs === null) return false;
  if (inputs.sensitive.includes(name)) return inputs.secretGivers?.[name] === person;
  return (row.responsibleUserId ?? row.requestedById) === person;
}

function leavesOfVariable(leaves: Leaves, name: string): [string, Leaf][] {
  const path = pointer('/variables', name);
  return [...leaves].filter(([other]) => other === path || liesIn(other, path));
}

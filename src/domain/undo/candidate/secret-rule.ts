import { isSameLeaf, type Leaf, type Leaves, liesIn, pointer } from '../change/leaves.ts';
import type { Deployment, Deployments } from '../deployments/deployments.ts';
import type { Candidate } from './candidate.ts';

/**
 * The secret variable that a candidate would give to inputs with which nobody who knows it has deployed it; null if there is none. Somebody who may
 * create runs could otherwise choose an address, and have the secret of somebody else sent there by undoing a run. A secret is safe where the
 * instance was already deployed from exactly the candidate, or where the person who asks gave its value in a run of their own.
 * Environments give their secrets to every run, so the rule is about those that runs were given.
 */
export function findSecretAtRisk(
  { sensitive, leaves }: Candidate,
  { runs, history }: Deployments,
  person: string,
): string | null {
  if (sensitive.length === 0 || runs.some((run) => isSameDeployment(run.leaves, leaves))) return null;
  const own = runs.filter((run) => responsibleFor(run) === person && givesValues(run));
  const isKnown = (path: string, leaf: Leaf) =>
    own.some(({ row }) =>
      history.find(row.id)?.changes.some((change) => change.path === path && isSameLeaf(change.after, leaf)),
    );
  const isAtRisk = (name: string) =>
    leavesOfVariable(leaves, name).some(([path, leaf]) => leaf.kind === 'value' && !isKnown(path, leaf));
  return sensitive.find(isAtRisk) ?? null;
}

/** The environment variables of the tools are those of today, whichever run they come from. */
function isSameDeployment(one: Leaves, other: Leaves): boolean {
  const isInput = ([path]: readonly [string, Leaf]) => !liesIn(path, '/environment');
  const [inputs, others] = [[...one].filter(isInput), [...other].filter(isInput)];
  return inputs.length === others.length && inputs.every(([path, leaf]) => isSameLeaf(other.get(path), leaf));
}

function responsibleFor({ row }: Deployment): string {
  return row.responsibleUserId ?? row.requestedById;
}

/** Whether whoever requested the run knew its secrets. A repetition, an undo, a remediation and a node of an assembly take them over. */
function givesValues({ row }: Deployment): boolean {
  return [row.requeuedFrom, row.undoes, row.assemblyRunId, row.driftFindingId].every((origin) => origin === null);
}

function leavesOfVariable(leaves: Leaves, name: string): [string, Leaf][] {
  const path = pointer('/variables', name);
  return [...leaves].filter(([other]) => other === path || liesIn(other, path));
}

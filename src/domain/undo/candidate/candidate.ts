import { createHmac } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { RunInputs, SecretGivers } from '#domain/runs/admission/inputs/inputs.ts';
import type { SealedRead } from '#domain/runs/references/model.ts';
import { canonicalJson } from '#domain/shared/commands/canonical.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { inputsOf, type Leaves } from '../change/leaves.ts';
import type { Deployments } from '../deployments/deployments.ts';

/** What an undo would deploy: the present inputs of the instance without the change of one run. It contains secrets. */
export interface Candidate {
  readonly versionId: string;
  readonly variables: Record<string, JsonValue>;
  /** Names of variables that are secret. */
  readonly sensitive: readonly string[];
  /** The outputs of other instances that the variables contain, as the runs had read them that set these values. */
  readonly reads: readonly SealedRead[];
  /** Who provided the secrets, according to the runs that set these values. */
  readonly secretGivers: SecretGivers;
  readonly leaves: Leaves;
  /** Names of variables that the run gets from the environment or a variable set, so that it follows their next change. */
  readonly given: readonly string[];
  /**
   * The deployments with exactly these inputs, if the candidate contains a secret that another person provided: then the new run must get
   * the same environment variables as one of them. Null: there is no such secret.
   */
  readonly repeats: readonly RunInputs[] | null;
}

/** A variable that was secret in any of the runs stays secret. */
export function toCandidate(leaves: Leaves, { runs }: Pick<Deployments, 'runs'>): Candidate {
  const { version, variables } = inputsOf(leaves);
  const secrets = new Set(runs.flatMap(({ sensitive }) => sensitive));
  const sensitive = Object.keys(variables).filter((name) => secrets.has(name));
  const reads = readsOf(variables, runs);
  const secretGivers = giversOf(variables, sensitive, runs);
  const taken = { variables: { ...variables }, sensitive, reads, secretGivers };
  return { versionId: version, ...taken, leaves, given: [], repeats: null };
}

function giversOf(
  variables: Readonly<Record<string, JsonValue>>,
  sensitive: readonly string[],
  runs: Deployments['runs'],
): SecretGivers {
  const givers = sensitive.flatMap((name) => {
    const last = runs.findLast(({ inputs }) => isDeepStrictEqual(inputs?.variables[name], variables[name]));
    const giver = last?.inputs?.secretGivers?.[name];
    return giver === undefined ? [] : [[name, giver] as const];
  });
  return Object.fromEntries(givers);
}

/** The reads of variables, taken from the last run that had the same value of the variable. */
function readsOf(variables: Readonly<Record<string, JsonValue>>, runs: Deployments['runs']): SealedRead[] {
  return Object.entries(variables).flatMap(([name, value]) => {
    const last = runs.findLast(({ inputs }) => isDeepStrictEqual(inputs?.variables[name], value));
    return (last?.inputs?.reads ?? []).filter(({ variable }) => variable === name);
  });
}

/**
 * A digest that identifies exactly what one attempt would deploy. It is keyed, because a plain digest would confirm a guessed secret. It
 * differs by attempt, because equal digests of two attempts would confirm one too.
 */
export function digestCandidate(
  bindingKey: Buffer,
  attemptId: string,
  { versionId, variables }: Pick<Candidate, 'versionId' | 'variables'>,
): string {
  const text = canonicalJson(['undo candidate', attemptId, versionId, variables]);
  return `hmac-sha256:${createHmac('sha256', bindingKey).update(text).digest('hex')}`;
}

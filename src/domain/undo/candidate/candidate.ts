import { createHmac } from 'node:crypto';
import type { RunInputs } from '#domain/runs/admission/inputs.ts';
import { canonicalJson } from '#domain/shared/commands/canonical.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { inputsOf, type Leaves } from '../change/leaves.ts';
import type { Deployments } from '../deployments/deployments.ts';

/** What would be deployed: the present inputs of the instance without the change of one run. It contains secrets. */
export interface Candidate {
  readonly versionId: string;
  readonly variables: Record<string, JsonValue>;
  /** Names of variables that are secret. */
  readonly sensitive: readonly string[];
  readonly leaves: Leaves;
  /**
   * The deployments with exactly these inputs, if there is a secret that the person who asks did not give: the environment must give the new run the
   * same variables as one of them. Null: there is no such secret.
   */
  readonly repeats: readonly RunInputs[] | null;
}

/** A variable that was secret in any of the runs stays secret. */
export function toCandidate(leaves: Leaves, { runs }: Pick<Deployments, 'runs'>): Candidate {
  const { version, variables } = inputsOf(leaves);
  const secrets = new Set(runs.flatMap(({ sensitive }) => sensitive));
  const sensitive = Object.keys(variables).filter((name) => secrets.has(name));
  return { versionId: version, variables: { ...variables }, sensitive, leaves, repeats: null };
}

/**
 * Names exactly what one attempt would deploy. It is keyed, because a plain digest would confirm a guessed secret. It differs by attempt, because equal
 * digests would do so, too.
 */
export function digestCandidate(
  bindingKey: Buffer,
  attemptId: string,
  { versionId, variables }: Pick<Candidate, 'versionId' | 'variables'>,
): string {
  const text = canonicalJson(['undo candidate', attemptId, versionId, variables]);
  return `hmac-sha256:${createHmac('sha256', bindingKey).update(text).digest('hex')}`;
}

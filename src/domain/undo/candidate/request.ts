import { isDeepStrictEqual } from 'node:util';
import { loadVersionById } from '#domain/registry/publication/published.ts';
import { isGivenOtherwise } from '#domain/runs/admission/deployment.ts';
import { openInputs, secretHashOf } from '#domain/runs/admission/inputs/inputs.ts';
import { resolveRun } from '#domain/runs/admission/resolve.ts';
import type { ResolveDeps, ResolvedRun, RunRequest } from '#domain/runs/admission/run-request.ts';
import type { AdmissionTarget } from '#domain/runs/admission/target.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Unprocessable } from '#domain/shared/errors.ts';
import type { Candidate } from './candidate.ts';

type Wanted = Pick<RunRequest, 'operation' | 'message'> &
  Partial<Pick<RunRequest, 'approval' | 'options'>> & { instance: string };

/**
 * Resolves the run that deploys a candidate. Its target is locked.
 * @throws Unprocessable if the version is not available, if the variables do not fit it, if the run would get other variables than the
 * candidate has, or if a secret of another person would go to an environment that has changed since
 */
export async function resolveCandidate(
  tx: Transaction,
  deps: ResolveDeps,
  target: AdmissionTarget,
  { candidate, ...wanted }: Wanted & { candidate: Candidate },
  requester: Principal,
): Promise<ResolvedRun> {
  const { versionId, variables, sensitive, secretGivers } = candidate;
  const { version } = await loadVersionById(tx.em, versionId);
  // Variables of the environment are not named, so that the run gets them from there.
  const isNamed = (name: string) => !candidate.given.includes(name);
  const named = Object.fromEntries(Object.entries(variables).filter(([name]) => isNamed(name)));
  const reads = candidate.reads.filter(({ variable }) => isNamed(variable));
  const request = { ...wanted, version, variables: named, sensitive, secretGivers, reads, replace: [] };
  const run = await resolveRun(tx, deps, target, request, requester);
  const inputs = openInputs(deps.keyRing, run.id, run.sealedInputs);
  const hash = secretHashOf(deps.keyRing, run.id);
  if (candidate.repeats?.every((source) => isGivenOtherwise(source, inputs, hash))) throw environmentChanged();
  const given = inputs.variables;
  const names = new Set([...Object.keys(given), ...Object.keys(variables)]);
  const differing = [...names].find((name) => isNamed(name) && !isDeepStrictEqual(given[name], variables[name]));
  if (run.templateVersionId === versionId && differing === undefined) return run;
  const what =
    differing === undefined ? 'another version' : `another value of the variable ${JSON.stringify(differing)}`;
  throw new Unprocessable(
    `the environment or the template would give the run ${what} than the undo would deploy: apply the values that you want in a new run`,
    { code: 'variables_invalid' },
  );
}

/** A changed environment variable, such as the address of a provider, could disclose the secret. */
function environmentChanged(): Unprocessable {
  return new Unprocessable(
    'another person set secrets of this undo, and the environment has other variables now than when they were deployed: apply the values that you want in a new run, and name the secrets there',
    { code: 'variables_invalid' },
  );
}

import { isDeepStrictEqual } from 'node:util';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { policyOf } from '#domain/shared/vocabulary/approval.ts';
import type { RunOperation } from '#domain/shared/vocabulary/runs.ts';
import type { Run } from '../entity.ts';
import type { RunOptions } from '../options/model.ts';
import type { RunPin } from './admission.ts';
import { secretHashOf } from './compared-inputs.ts';
import { openInputs, openInputsToRepeat, type RunInputs } from './inputs.ts';
import { omitNames, refuseOmittedAndGiven } from './omitted.ts';
import { pinOf } from './requeue.ts';
import { resolveRun } from './resolve.ts';
import type { ResolveDeps, ResolvedRun } from './run-request.ts';
import type { AdmissionTarget } from './target.ts';

/** The changes that a copy makes to its run. Undefined members stay as they were. */
export interface CopyChanges {
  readonly version?: string | undefined;
  readonly instance?: string | undefined;
  readonly operation?: RunOperation | undefined;
  readonly replace?: readonly string[] | undefined;
  readonly options?: RunOptions | undefined;
  readonly variables: Record<string, JsonValue>;
  /** Names of variables that are not taken over: the environment's value or the default takes their place. */
  readonly omit: readonly string[];
  readonly message?: string | undefined;
}

/**
 * The state of the instance that a copy expects. A copy that resolves to the same work as its run expects the same state as that run, as a
 * requeue does (`pinOf`). This also holds if the request names values that the run already has, or omits a variable that then gets the same
 * value. A copy that differs is a new run, and expects no state.
 */
export function pinOfCopy(keyRing: KeyRing, run: Run, copy: ResolvedRun): RunPin | undefined {
  const isSameWork =
    copy.templateVersionId === run.templateVersionId &&
    copy.instance === run.instance &&
    copy.operation === run.operation &&
    isDeepStrictEqual(copy.replace, run.replace) &&
    isDeepStrictEqual(copy.options, run.options ?? null);
  if (!isSameWork) return undefined;
  const hash = secretHashOf(keyRing, run.id);
  const before = openInputs(keyRing, run.id, run.sealedInputs);
  const after = openInputs(keyRing, copy.id, copy.sealedInputs);
  const secrets = new Set([...before.sensitive, ...after.sensitive]);
  const compared = ({ variables }: RunInputs) =>
    Object.entries(variables).map(([name, value]) => [name, secrets.has(name) ? hash(value) : value] as const);
  const isSame = isDeepStrictEqual(new Map(compared(before)), new Map(compared(after)));
  return isSame ? pinOf(run).expects : undefined;
}

/**
 * Resolves a copy, whose target is locked: a new run with the version and the variables of an ended one, except for the changes.
 * Secret variables are taken over only if version, instance, variables and what the environment gives stay the same: another
 * version, or another value such as an address, could disclose them. Like a requeue, it demands at least the approval of its run.
 * @throws Invalid for a variable to omit that the copy sets
 * @throws Unprocessable naming everything that is wrong with the variables, and each one to omit that neither the run nor the version has
 */
export function resolveCopy(
  tx: Transaction,
  deps: ResolveDeps,
  { run, target, changes }: { run: Run; target: AdmissionTarget; changes: CopyChanges },
  requester: Principal,
): Promise<ResolvedRun> {
  refuseOmittedAndGiven(changes.omit, changes.variables);
  const opened = openInputsToRepeat(deps.keyRing, run.id, run.sealedInputs);
  const { inputs, omitted, omittedAbsent } = omitNames(opened, changes.omit);
  const { variables, sensitive, sources, environment, reads } = inputs;
  const { instance = run.instance, operation = run.operation, message = run.message } = changes;
  const request = {
    version: changes.version,
    instance,
    operation,
    replace: changes.replace ?? (operation === run.operation ? run.replace : []),
    options: changes.options ?? (operation === run.operation ? (run.options ?? null) : null),
    variables: changes.variables,
    message,
    approval: policyOf(run),
    source: {
      runId: run.id,
      isChanged: instance !== run.instance || omitted.length > 0,
      omittedAbsent,
      deployment: {
        versionId: run.templateVersionId,
        inputs: { variables, sensitive, sources, environment, reads },
      },
    },
    resolvesReferences: true,
  };
  return resolveRun(tx, deps, target, request, requester);
}

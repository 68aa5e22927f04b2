import { isDeepStrictEqual } from 'node:util';
import type { Em } from '#database/database.ts';
import { policyOf } from '#domain/registry/approval/approval-policy.ts';
import { loadVersion } from '#domain/registry/published.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { invalidField } from '#domain/shared/errors.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { Run } from '../entity.ts';
import type { RunOperation } from '../model.ts';
import { openInputs } from './inputs.ts';
import { type ResolveDeps, type ResolvedRun, resolveRun } from './resolve.ts';
import type { AdmissionTarget } from './target.ts';

/** The changes that a copy makes to its run. Undefined members stay as they were. */
export interface CopyChanges {
  readonly version?: string | undefined;
  readonly instance?: string | undefined;
  readonly operation?: RunOperation | undefined;
  readonly replace?: readonly string[] | undefined;
  readonly variables: Record<string, JsonValue>;
  /** Names of variables that are not taken over: the environment's value or the default takes their place. */
  readonly omit: readonly string[];
  readonly message?: string | undefined;
}

/**
 * Whether a copy repeats its run, as a requeue does. Naming what the run has already, or a range whose latest version it has, changes nothing.
 * @throws Unprocessable for a version that does not exist
 */
export async function changesNothing(em: Em, run: Run, { omit, ...changes }: CopyChanges): Promise<boolean> {
  const { version, instance = run.instance, operation = run.operation } = changes;
  const versionId = version === undefined ? null : (await loadVersion(em, run.templateId, version)).id;
  const isKept =
    (versionId ?? run.templateVersionId) === run.templateVersionId &&
    instance === run.instance &&
    operation === run.operation;
  const repeatsValue = ([name, value]: [string, JsonValue]) =>
    Object.hasOwn(run.variables, name) && isDeepStrictEqual(value, run.variables[name]);
  return (
    isKept &&
    isDeepStrictEqual(changes.replace ?? run.replace, run.replace) &&
    omit.length === 0 &&
    Object.entries(changes.variables).every(repeatsValue)
  );
}

/**
 * Resolves a copy, whose target is locked: a new run with the version and the variables of an ended one, except for the changes.
 * Secret variables are taken over only if version, instance, variables and what the environment gives stay the same: another
 * version, or another value such as an address, could disclose them. Like a requeue, it demands at least the approval of its run.
 * @throws Invalid for a variable to omit that the run does not have, or that the copy sets
 * @throws Unprocessable naming everything that is wrong with the variables
 */
export function resolveCopy(
  tx: Transaction,
  deps: ResolveDeps,
  { run, target, changes }: { run: Run; target: AdmissionTarget; changes: CopyChanges },
  requester: Principal,
): Promise<ResolvedRun> {
  refuseOmitted(run, changes);
  const { variables, sensitive, sources = {}, environment } = openInputs(deps.keyRing, run.id, run.sealedInputs);
  const { instance = run.instance, operation = run.operation, message = run.message } = changes;
  const request = {
    version: changes.version,
    instance,
    operation,
    replace: changes.replace ?? (operation === run.operation ? run.replace : []),
    variables: changes.variables,
    message,
    approval: policyOf(run),
    source: {
      runId: run.id,
      isChanged: instance !== run.instance || changes.omit.length > 0,
      deployment: {
        versionId: run.templateVersionId,
        inputs: {
          variables: withoutNames(variables, changes.omit),
          sensitive,
          sources: withoutNames(sources, changes.omit),
          environment,
        },
      },
    },
  };
  return resolveRun(tx, deps, target, request, requester);
}

function refuseOmitted(run: Run, { omit, variables }: CopyChanges): void {
  for (const name of omit) {
    const quoted = JSON.stringify(name);
    if (Object.hasOwn(variables, name))
      throw invalidField('omit', `the copy sets the variable ${quoted}: name it in variables or in omit`);
    if (!Object.hasOwn(run.variables, name))
      throw invalidField('omit', `the run has no variable ${quoted}: name only variables of the run`);
  }
}

function withoutNames<Value>(values: Readonly<Record<string, Value>>, names: readonly string[]): Record<string, Value> {
  return Object.fromEntries(Object.entries(values).filter(([name]) => !names.includes(name)));
}

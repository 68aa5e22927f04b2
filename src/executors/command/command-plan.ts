import { join } from 'node:path';
import { type ChangeAction, changeActions, type ResourceChange } from '#domain/runs/plans/model.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { Attempt, Results } from '../attempt/attempt.ts';
import { sensitiveMark, shownValue } from '../redaction/masking.ts';
import { secretDigestOf } from '../redaction/secret-digest.ts';
import { AttemptFailure, messageOf } from '../shared/errors.ts';
import { isObject, parseJson } from '../shared/json.ts';
import { resultLimits } from '../shared/result-limits.ts';

/** Reads the changes that a command template plans, and collects the files that its apply phase needs. */

const {
  commandPlanBytes: maxPlanBytes,
  planDirectoryBytes: maxPlanFilesBytes,
  planDirectoryFiles: maxFiles,
  commandChanges: maxChanges,
  addressLength: maxAddressLength,
} = resultLimits;
const keptDirectory = 'plan';
export const planFile = 'plan.json';

/** Reads the changes in `plan.json`; null if there is no such file. @throws AttemptFailure `plan_invalid` */
export function readCommandPlan({ redactor, request }: Attempt, content: Buffer | null): ResourceChange[] | null {
  if (content === null) return null;
  const digest = secretDigestOf(request.secretsKey);
  try {
    if (content.length > maxPlanBytes) throw new Error(`it has ${content.length} bytes; the limit is ${maxPlanBytes}`);
    const entries = parseJson(content, { refusesRepeatedKeys: true });
    if (!Array.isArray(entries)) throw new Error('expected a list of changes');
    if (entries.length > maxChanges) throw new Error(`it has ${entries.length} changes; the limit is ${maxChanges}`);
    const read = entries.map(readChange);
    // All secrets are learned first, because each new one rebuilds the matcher.
    for (const { sensitive, before, after } of read)
      if (sensitive) for (const side of [before, after]) redactor.learn(side);
    return read.map(({ sensitive, ...change }) => {
      const show = (side: JsonValue) => (sensitive && side !== null ? sensitiveMark : shownValue(side, redactor));
      const address = redactor.redactText(change.address);
      const secret = { path: [], changed: true, ...(digest && { digest: digest(change.after) }) };
      return {
        ...change,
        address,
        ...(change.type !== undefined && { type: redactor.redactText(change.type) }),
        before: show(change.before),
        after: show(change.after),
        ...(sensitive && digest && { sensitivePaths: [secret] }),
      };
    });
  } catch (error) {
    throw new AttemptFailure('plan_invalid', `plan.json cannot be read: ${messageOf(error)}`);
  }
}

function readChange(entry: JsonValue, index: number): ResourceChange & { sensitive: boolean } {
  if (!isObject(entry)) throw new Error(`[${index}] must be an object`);
  const { address, action, type, before = null, after = null, sensitive = false } = entry;
  if (typeof address !== 'string' || address === '') throw new Error(`[${index}].address must be a non-empty string`);
  if (address.length > maxAddressLength)
    throw new Error(`[${index}].address is longer than ${maxAddressLength} characters`);
  if (!isAction(action)) throw new Error(`[${index}].action must be one of ${changeActions.join(', ')}`);
  return { address, action, before, after, sensitive: sensitive === true, ...(typeof type === 'string' && { type }) };
}

function isAction(action: JsonValue | undefined): action is ChangeAction {
  return changeActions.some((known) => known === action);
}

/** Assumes a change for a template without a plan of its own, and logs that. */
export function assumePlan(attempt: Attempt, hasSteps: boolean): ResourceChange[] {
  const isDestroy = attempt.request.operation === 'destroy';
  attempt.note(
    isDestroy
      ? 'no plan: the "destroy" steps are assumed to remove everything'
      : `no plan: ${hasSteps ? 'the "plan" steps wrote no plan.json' : 'the template has no "plan" steps'}, so a change is assumed`,
  );
  return [{ address: 'template', action: isDestroy ? 'delete' : 'update', before: null, after: null }];
}

/** Reads `plan.json` and the files in the directory `plan`. @throws AttemptFailure if they exceed a limit */
export async function collectPlanFiles(results: Results, work: string, code: number): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  if (code !== 0) return files;
  const names = await results.list(join(work, keptDirectory), maxFiles).catch((error: unknown) => {
    throw new AttemptFailure('plan_invalid', `the directory "plan" cannot be stored: ${messageOf(error)}`);
  });
  let bytes = 0;
  for (const path of [planFile, ...names.sort().map((name) => join(keptDirectory, name))]) {
    const content = await results.read(join(work, path), maxPlanFilesBytes - bytes).catch((error: unknown) => {
      throw new AttemptFailure('plan_invalid', `${path} cannot be stored: ${messageOf(error)}`);
    });
    if (content === null) continue;
    files.set(path, content);
    bytes += content.length;
  }
  return files;
}

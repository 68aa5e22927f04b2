import { join } from 'node:path';
import { type ChangeAction, changeActions, type JsonValue } from '#domain/runs/model.ts';
import type { Attempt, Results } from '../attempt/attempt.ts';
import { AttemptFailure, messageOf } from '../attempt/attempt-error.ts';
import { parseJson } from '../attempt/work-files.ts';
import { isObject } from '../opentofu/state-document.ts';
import type { PlannedChange } from '../protocol/request.ts';
import { maskSecrets, sensitiveMark } from '../redaction/masking.ts';

/** What the steps of a command template say they would change, and what of it waits for the apply. */

const largestPlan = 16 * 1024 * 1024;
const largestKept = 64 * 1024 * 1024;
const mostFiles = 1_000;
const mostChanges = 20_000;
const longestAddress = 4_096;
const keptDirectory = 'plan';
export const planFile = 'plan.json';

/** The changes in `plan.json`; null where there is none. @throws AttemptFailure `plan_invalid` */
export function readCommandPlan({ redactor }: Attempt, content: Buffer | null): PlannedChange[] | null {
  if (content === null) return null;
  try {
    if (content.length > largestPlan)
      throw new Error(`it has ${content.length} bytes, and at most ${largestPlan} are read`);
    const entries = parseJson(content) as JsonValue;
    if (!Array.isArray(entries)) throw new Error('expected a list of changes');
    if (entries.length > mostChanges)
      throw new Error(`it has ${entries.length} changes, and at most ${mostChanges} are read`);
    const read = entries.map(readChange);
    // All of them first: each secret that becomes known makes the search for all of them anew.
    for (const { sensitive, before, after } of read)
      if (sensitive) for (const side of [before, after]) redactor.learn(side);
    return read.map(({ sensitive, ...change }) => {
      const show = (side: JsonValue) => (sensitive && side !== null ? sensitiveMark : maskSecrets(side, redactor));
      const address = redactor.redactText(change.address);
      return { ...change, address, before: show(change.before), after: show(change.after) };
    });
  } catch (error) {
    throw new AttemptFailure('plan_invalid', `plan.json cannot be read: ${messageOf(error)}`);
  }
}

function readChange(entry: JsonValue, index: number): PlannedChange & { sensitive: boolean } {
  if (!isObject(entry)) throw new Error(`[${index}] is no object`);
  const { address, action, type, before = null, after = null, sensitive = false } = entry;
  if (typeof address !== 'string' || address === '') throw new Error(`[${index}].address must be a text`);
  if (address.length > longestAddress) throw new Error(`[${index}].address has more than ${longestAddress} characters`);
  if (!isAction(action)) throw new Error(`[${index}].action must be one of ${changeActions.join(', ')}`);
  return { address, action, before, after, sensitive: sensitive === true, ...(typeof type === 'string' && { type }) };
}

function isAction(action: JsonValue | undefined): action is ChangeAction {
  return changeActions.some((known) => known === action);
}

/** Without a plan of its own, a template counts as changing something, and the log says so. */
export function assumePlan(attempt: Attempt, hasSteps: boolean): PlannedChange[] {
  const isDestroy = attempt.request.operation === 'destroy';
  attempt.note(
    isDestroy
      ? 'no plan: the "destroy" steps are taken to remove everything'
      : `no plan: ${hasSteps ? 'the "plan" steps wrote no plan.json' : 'the template has no "plan" steps'}, so it is taken to change something`,
  );
  return [{ address: 'template', action: isDestroy ? 'delete' : 'update', before: null, after: null }];
}

/** `plan.json` and whatever the steps put into the directory `plan`. @throws AttemptFailure where it is too much */
export async function collectPlanFiles(results: Results, work: string, code: number): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  if (code !== 0) return files;
  const names = await results.list(join(work, keptDirectory), mostFiles).catch((error: unknown) => {
    throw new AttemptFailure('plan_invalid', `the directory plan cannot be kept: ${messageOf(error)}`);
  });
  let bytes = 0;
  for (const path of [planFile, ...names.sort().map((name) => join(keptDirectory, name))]) {
    const content = await results.read(join(work, path), largestKept - bytes).catch((error: unknown) => {
      throw new AttemptFailure('plan_invalid', `${path} cannot be kept: ${messageOf(error)}`);
    });
    if (content === null) continue;
    files.set(path, content);
    bytes += content.length;
  }
  return files;
}

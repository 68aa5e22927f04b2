import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type ChangeAction, changeActions, type JsonValue } from '#domain/runs/model.ts';
import type { Attempt } from './attempt.ts';
import { AttemptFailure, messageOf } from './attempt-error.ts';
import { maskSecrets, sensitiveMark } from './masking.ts';
import type { PlannedChange } from './protocol.ts';
import { isObject } from './state-document.ts';
import { parseJson, readUntrusted, writePrivate } from './work-files.ts';

/** What the steps of a command template say they would change, and what of it waits for the apply. */

const largestPlan = 16 * 1024 * 1024;
const largestKept = 64 * 1024 * 1024;
const mostFiles = 1_000;
const keptDirectory = 'plan';

/** The changes in `plan.json`; null where there is none. @throws AttemptFailure `plan_invalid` */
export async function readCommandPlan({ places, redactor }: Attempt): Promise<PlannedChange[] | null> {
  try {
    const content = await readUntrusted(join(places.work, 'plan.json'), largestPlan);
    if (content === null) return null;
    const entries = parseJson(content) as JsonValue;
    if (!Array.isArray(entries)) throw new Error('expected a list of changes');
    return entries.map((entry, index) => {
      const { sensitive, ...change } = readChange(entry, index);
      if (sensitive) for (const side of [change.before, change.after]) redactor.learn(side);
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
export async function collectPlanFiles(work: string): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  const names = await listFiles(work, keptDirectory);
  let bytes = 0;
  for (const path of ['plan.json', ...names.sort()]) {
    const content = await readUntrusted(join(work, path), largestKept - bytes).catch((error: unknown) => {
      throw new AttemptFailure('plan_invalid', `${path} cannot be kept: ${messageOf(error)}`);
    });
    if (content === null) continue;
    files.set(path, content);
    bytes += content.length;
  }
  return files;
}

async function listFiles(work: string, directory: string): Promise<string[]> {
  const entries = await readdir(join(work, directory), { withFileTypes: true, recursive: true }).catch(() => []);
  const files = entries.filter((entry) => !entry.isDirectory());
  if (files.length > mostFiles)
    throw new AttemptFailure('plan_invalid', `the directory plan has more than ${mostFiles} files`);
  return files.map((entry) => join(entry.parentPath, entry.name).slice(work.length + 1));
}

export async function restorePlanFiles(work: string, files: ReadonlyMap<string, Buffer>): Promise<void> {
  for (const [path, content] of files) {
    await mkdir(join(work, path, '..'), { recursive: true, mode: 0o700 });
    await writePrivate(join(work, path), content);
  }
}

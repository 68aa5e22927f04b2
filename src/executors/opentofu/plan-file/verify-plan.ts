import { readFile } from '#domain/sources/hcl/blocks.ts';
import { isValueFile } from '#domain/sources/hcl/value-files.ts';
import { AttemptFailure, messageOf } from '../../shared/errors.ts';
import { isObject, parseJson } from '../../shared/json.ts';
import type { Initialization } from '../initialization/init-cache.ts';
import type { ToolSession } from '../session.ts';
import { readSnapshot } from './snapshot.ts';
import { verifyPlanFile } from './verify.ts';

/**
 * Compares everything in a plan file with the attempt's inputs.
 * @throws AttemptFailure `plan_invalid`, or `artifact_mismatch` before an apply
 */
export async function verifyPlan(session: ToolSession, { data }: Initialization, plan: Buffer): Promise<void> {
  const { attempt, executor, tool, variables } = session;
  const { phase, operation, replace, options = {} } = attempt.request;
  try {
    const snapshot = await readSnapshot({
      tool: tool.name,
      filesIn: (directory) => session.filesIn(directory),
      directory: executor.directory ?? '',
      data,
    });
    await verifyPlanFile(plan, {
      snapshot,
      tool: tool.name,
      operation,
      options: { targets: options.target ?? [], excludes: options.exclude ?? [], replaced: replace },
      variables,
      isOwn: readOwnVariables(session.filesIn(executor.directory ?? '')),
      // Before an apply, the tool itself compares the plan with the state.
      state: phase === 'apply' ? undefined : attempt.state.content,
    });
  } catch (error) {
    const reason = phase === 'apply' ? 'artifact_mismatch' : 'plan_invalid';
    throw new AttemptFailure(reason, `the plan file is not the tool's own: ${messageOf(error)}`, { cause: error });
  }
}

/**
 * Returns a function that tells whether the files in the tool's start directory set a variable. The tools read these files in addition to
 * the variables of the run. If one of the files cannot be parsed, it may set any variable.
 */
function readOwnVariables(files: ReadonlyMap<string, Buffer>): (variable: string) => boolean {
  const names = new Set<string>();
  for (const [name, content] of files) {
    if (!isValueFile(name)) continue;
    const found = namesIn(name, content);
    if (found === null) return () => true;
    for (const each of found) names.add(each);
  }
  return (variable) => names.has(variable);
}

function namesIn(name: string, content: Buffer): Iterable<string> | null {
  if (!name.endsWith('.json')) {
    const { body, problem } = readFile({ name, text: content.toString() });
    return problem === null ? body.arguments.keys() : null;
  }
  try {
    const values = parseJson(content);
    return isObject(values) ? Object.keys(values) : null;
  } catch {
    return null;
  }
}

import { AttemptFailure, messageOf } from '../../shared/errors.ts';
import type { Initialization } from '../initialization/init-cache.ts';
import type { ToolSession } from '../session.ts';
import { readOwnVariables } from './own-variables.ts';
import { readSnapshot } from './snapshot.ts';
import { verifyPlanFile } from './verify.ts';

/**
 * Compares everything in a plan file with what the attempt was given.
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

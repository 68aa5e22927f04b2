import type { Principal } from '#domain/shared/access/principal.ts';
import { throwIfRefused } from '#domain/shared/actions.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { AssemblyNode, type AssemblyRun } from '../../entity.ts';
import { assemblyRunWorkflow, isLeftOut, waitForEngine } from '../../model.ts';
import { publishAssemblyRunEvent } from '../publish-event.ts';
import { findResumeRefusal } from '../rules.ts';
import type { AssemblyRunTarget } from '../targets.ts';
import { authorityOf, authorOf } from './start.ts';

/**
 * Resumes an assembly run that ended without success: nodes that succeeded keep their outputs, and all others begin again, under the
 * authority of the principal who resumes. A new workflow drives it, named by the command's key. The caller has locked the rows of `target`.
 * @throws ActionRefused if the run has not ended, has succeeded, or can no longer be started
 */
export async function resumeAssemblyRun(
  tx: Transaction,
  key: string,
  target: AssemblyRunTarget,
  by: Principal,
): Promise<void> {
  const { run } = target;
  throwIfRefused(findResumeRefusal(target));
  const nodes = await tx.em.find(AssemblyNode, { assemblyRunId: run.id });
  const again = nodes.filter((node) => node.status !== 'succeeded' && !isLeftOut(node));
  for (const node of again) beginAnew(node);
  restart(run, key, by);
  await tx.em.flush();
  publishAssemblyRunEvent(tx, run, 'assembly_run.resumed', { by: by.name, nodes: again.length });
  tx.notifyEngine(key, { kind: 'start', workflow: assemblyRunWorkflow, input: { assembly_run_id: run.id } });
}

function beginAnew(node: AssemblyNode): void {
  Object.assign(node, { status: 'pending', reason: null, waiting: waitForEngine(), attempts: 0, nextAttemptAt: null });
  Object.assign(node, { runId: null, startedAt: null, finishedAt: null });
}

function restart(run: AssemblyRun, key: string, by: Principal): void {
  run.moveTo('queued');
  Object.assign(run, {
    workflowId: key,
    statusReason: null,
    statusDetail: null,
    cancelReason: null,
    canceledByName: null,
    finishedAt: null,
    ...authorityOf(by),
  });
  const author = authorOf(by);
  // The author counts as known only with the same person: another person, who issued the key, may answer for the same service account.
  const isKnown = run.authors.some(
    ({ id, person, because }) => id === author.id && person === author.person && because === author.because,
  );
  if (!isKnown) run.authors = [...run.authors, author];
}

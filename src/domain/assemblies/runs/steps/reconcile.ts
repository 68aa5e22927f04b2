import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { cancelRun } from '#domain/runs/cancel.ts';
import { lockRunInOrder } from '#domain/runs/steps/transitions.ts';
import { NothingToDo, runSystemCommand, type SystemCommandDeps } from '#domain/shared/commands/system-command.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { type Dispatched, isWorkflowStartPending } from '#domain/shared/events/pending-start.ts';
import { findOwningTeam } from '#domain/shared/ownership-graph/owning-team.ts';
import { AssemblyNode, type AssemblyRun } from '../../entity.ts';
import { isNodeEnded } from '../../model.ts';
import { publishAssemblyRunEvent } from '../publish-event.ts';
import { endNode } from './advance.ts';
import { lockAssemblyRun } from './facts-store.ts';

/** The next assembly runs, by id, that have not ended and whose workflows the engine has started. */
export function findDispatchedAssemblyRuns(
  em: Em,
  { after, graceSeconds, limit }: { after: string; graceSeconds: number; limit: number },
): Promise<Dispatched[]> {
  return db(em)
    .selectFrom('assembly_runs as r')
    .where('r.finishedAt', 'is', null)
    .where('r.id', '>', after)
    .where('r.createdAt', '<', sql<string>`now() - make_interval(secs => ${graceSeconds})`)
    .where((eb) => eb.not(isWorkflowStartPending(eb.ref('r.workflowId'))))
    .select(['r.id', 'r.workflowId'])
    .orderBy('r.id')
    .limit(limit)
    .execute();
}

/**
 * Ends an assembly run whose workflow the engine has lost, and cancels the runs of its nodes: nothing would continue after them. It can be
 * resumed. False if it has ended, or if its workflow has not been started yet.
 */
export async function endLostAssemblyRun(deps: SystemCommandDeps, { id, workflowId }: Dispatched): Promise<boolean> {
  const command = { action: 'assembly_run.engine_lost', target: { id }, cause: null } as const;
  const change = await runSystemCommand(deps, command, {
    find: async (tx) => {
      const run = await lockAssemblyRun(tx.em, id);
      const owners = run && (await findOwningTeam(tx.em, 'assembly_run', id));
      return run && owners ? { run, ...owners } : undefined;
    },
    act: async (tx, _caller, target) => {
      const run = target?.run;
      // A run that somebody has resumed in the meantime has another workflow.
      if (!run || run.isFinished() || run.workflowId !== workflowId) throw new NothingToDo();
      if (await waitsForStart(tx.em, run)) throw new NothingToDo();
      await endNodes(tx, run);
      run.moveTo('failed');
      Object.assign(run, { statusReason: 'engine_lost', finishedAt: new Date() });
      publishAssemblyRunEvent(tx, run, 'assembly_run.finished', { status: 'failed', reason: 'engine_lost' });
      await tx.em.flush();
      return { id, after: { status: run.status, reason: 'engine_lost' }, revision: run.revision };
    },
  });
  return change !== undefined;
}

async function waitsForStart(em: Em, { id }: AssemblyRun): Promise<boolean> {
  const waiting = await db(em)
    .selectFrom('assembly_runs as r')
    .where('r.id', '=', id)
    .where((eb) => isWorkflowStartPending(eb.ref('r.workflowId')))
    .select('r.id')
    .execute();
  return waiting.length > 0;
}

async function endNodes(tx: Transaction, run: AssemblyRun): Promise<void> {
  const nodes = await tx.em.find(AssemblyNode, { assemblyRunId: run.id }, { orderBy: { position: 'asc' } });
  const reason = { code: 'canceled', message: 'the workflow engine no longer knows the assembly run' } as const;
  for (const node of nodes) {
    if (isNodeEnded(node.status)) continue;
    const locked = node.runId ? await lockRunInOrder(tx.em, node.runId) : null;
    if (locked && !locked.isFinished()) await cancelRun(tx, locked, { reason: reason.message }, 'coordinator');
    endNode(tx, run, node, { status: 'canceled', reason });
  }
}

import { NothingToDo, runSystemCommand, type SystemCommandDeps } from '#domain/shared/commands/system-command.ts';
import { RunAttempt } from '../entity.ts';
import { findRunToChange } from '../targets.ts';
import { waitsForStart } from './reconcile-store.ts';
import { closeAttempt, finishRun } from './transitions.ts';

/**
 * Ends a run whose workflow the engine has lost, since nothing else would. False if the run has ended, or its workflow is still
 * to be started. The attempt may write no log and no result any more; a state that it still writes is treated like any late
 * state.
 */
export async function endLostRun(deps: SystemCommandDeps, id: string): Promise<boolean> {
  const command = { action: 'run.engine_lost', target: { id }, cause: id } as const;
  const change = await runSystemCommand(deps, command, {
    find: (tx) => findRunToChange(tx.em, id, true),
    act: async (tx, _caller, target) => {
      const run = target?.run;
      if (!run || run.isFinished() || (await waitsForStart(tx.em, id))) throw new NothingToDo();
      const attempt = run.attemptId ? await tx.em.findOne(RunAttempt, { id: run.attemptId }) : null;
      if (attempt && attempt.outcome === null) closeAttempt(attempt, 'lost');
      await finishRun(tx, run, { status: 'failed', reason: 'engine_lost' });
      return { id, after: { status: run.status, reason: 'engine_lost' }, revision: run.revision };
    },
  });
  return change !== undefined;
}

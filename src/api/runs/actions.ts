import { type ActionContext, describeActions } from '#api/pipeline/actions.ts';
import { factsOfNewRun } from '#domain/runs/action-facts.ts';
import { findRunRefusal, type RunAction, runActions } from '#domain/runs/actions.ts';
import type { AdmittedRun } from '#domain/runs/admission/admission.ts';
import type { RunToShow, RunView } from '#domain/runs/store.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import type { Action } from '#domain/shared/actions.ts';

/** The operation that carries out an action of a run. */
const operationOf: Record<RunAction, string> = {
  cancel: 'runs.cancel',
  force: 'runs.cancel',
  request_approval: 'runs.request_approval',
  approve: 'runs.review',
  reject: 'runs.review',
  requeue: 'runs.requeue',
  delete: 'runs.delete',
};

export type ShownRun = RunView & { readonly actions: Action<RunAction>[] };

/** A run as an answer shows it that is about this run alone. */
export function showRun(context: ActionContext, run: RunToShow): ShownRun {
  const declarations = runActions.map((name) => ({
    name,
    operation: operationOf[name],
    target: targetOf(name, run),
    findRefusal: () => findRunRefusal(name, run.facts, context.principal),
  }));
  return { ...run.view, actions: describeActions(context, declarations) };
}

/** The same for a run that this transaction admits; there once the transaction has committed. */
export function showAdmittedRun(
  context: ActionContext,
  { teamId, organizationId }: Ownership,
  { id, view }: AdmittedRun,
): Promise<ShownRun> {
  const owner = { id, teamId, organizationId, isDeleted: false };
  const shown = view.then((run) => showRun(context, { ...owner, view: run, facts: factsOfNewRun(run.status) }));
  shown.catch(() => undefined); // The commit fails with the same error, and the pipeline reports that one.
  return shown;
}

/** A deleted run is not there to be deleted; a requeue belongs to whom its environment or template belongs to now. */
function targetOf(action: RunAction, run: RunToShow): Ownership | undefined {
  if (action === 'delete' && run.isDeleted) return undefined;
  if (action === 'requeue') return run.facts.admission?.target ?? run;
  return run;
}

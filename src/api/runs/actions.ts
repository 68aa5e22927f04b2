import type { z } from 'zod';
import { type ActionContext, describeActions, describeAuthority, findProtected } from '#api/pipeline/actions.ts';
import { factsOfNewRun, findRunRefusal, isRepetition, type RunAction, runActions } from '#domain/runs/actions.ts';
import type { AdmittedRun } from '#domain/runs/admission/admission.ts';
import { prefillOf } from '#domain/runs/admission/deployment.ts';
import type { RunWithFacts } from '#domain/runs/store.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import { toApproval } from './approvals/approval-views.ts';
import { showVariables, toRead, toReset } from './variable-views.ts';
import { type RunView, toListedRun, toUsedConnection } from './views.ts';

/** The operation that carries out an action of a run. */
const operationOf: Record<RunAction, string> = {
  cancel: 'runs.cancel',
  force: 'runs.cancel',
  request_approval: 'runs.request_approval',
  approve: 'runs.review',
  reject: 'runs.review',
  requeue: 'runs.requeue',
  copy: 'runs.copy',
  delete: 'runs.delete',
};

type ShownRun = z.input<typeof RunView>;

/** Shows one run with the actions that the caller may take. */
export function showRun(context: ActionContext, run: RunWithFacts): ShownRun {
  const declarations = runActions.map((name) => ({
    name,
    operation: operationOf[name],
    target: targetOf(name, run),
    findRefusal: () => findRunRefusal(name, run.facts, context.principal),
  }));
  const prefill = run.isDeleted ? null : prefillOf(showVariables(run.details));
  const approval = toApproval(run.details, run.facts.approval);
  return {
    ...toListedRun(run.details),
    variable_sources: run.details.variableSources,
    reads: (run.details.reads ?? []).map(toRead),
    variables_reset: (run.details.variableResets ?? []).map(toReset),
    connections: run.details.connections
      .filter(({ isGiven }) => isGiven)
      .map((used) => toUsedConnection(used, context.principal)),
    approval,
    prefill,
    superseded_by: toSuperseding(context, run.supersededBy),
    actions: describeActions(context, declarations),
  };
}

/** Like `showRun`, for a run that the transaction is admitting. */
export function showAdmittedRun(
  context: ActionContext,
  { teamId, organizationId }: Ownership,
  { id, details }: AdmittedRun,
): ShownRun {
  return showRun(context, {
    id,
    teamId,
    organizationId,
    isDeleted: false,
    reviewNeeds: details.reviewNeeds,
    details,
    facts: factsOfNewRun(details.status, details.operation),
    supersededBy: null,
  });
}

/**
 * Names the newer run only to a caller who may read it. If it belongs to another team, a caller who may not read it may not repeat the
 * older run either.
 */
function toSuperseding(
  { operations, principal }: ActionContext,
  run: RunWithFacts['supersededBy'],
): ShownRun['superseded_by'] {
  if (!run || !describeAuthority(findProtected(operations, 'runs.get'), principal, [run]).allowed) return null;
  return { run_id: run.runId, operation: run.operation, template_version: run.templateVersion };
}

/**
 * A run that is already deleted has no delete target. A requeued or copied run belongs to the present owner of the environment or
 * template.
 */
function targetOf(action: RunAction, run: RunWithFacts): Ownership | undefined {
  if (action === 'delete' && run.isDeleted) return undefined;
  if (isRepetition(action)) return run.facts.admission?.target ?? run;
  return run;
}

import { type ActionButton, renderActions } from '#api/web/components/actions.ts';
import type { Html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { actionsByStatus, type RunAction } from '#domain/runs/actions.ts';
import { isCancellationOverdue } from '#domain/runs/model.ts';
import type { Action } from '#domain/shared/actions.ts';
import type { ShownEvent } from '../run/timeline.ts';
import type { ShownRun } from '../run-tab.ts';

/**
 * The buttons for the actions that the status of the run allows. A disabled button says why. Reviews have their own form under the plan.
 */
export function renderRunActions(
  run: ShownRun,
  { events, undo }: { readonly events: readonly ShownEvent[]; readonly undo: Action | null },
  now = new Date(),
): Html {
  const { id, template_id: template } = run;
  const buttons: Readonly<Partial<Record<RunAction | 'undo', ActionButton>>> = {
    request_approval: { label: 'Ask for a review', icon: 'mail', path: pagePath(pages.requestApproval, { id }) },
    cancel: { label: 'Cancel', icon: 'circle-stop', tone: 'danger', path: pagePath(pages.cancelRun, { id }) },
    force: { label: 'Force cancel', icon: 'octagon-x', tone: 'danger', path: pagePath(pages.forceCancelRun, { id }) },
    copy: {
      label: 'Run again with changes',
      icon: 'pencil',
      path: pagePath(pages.newRun, { id: template }, { from: id }),
    },
    requeue: { label: 'Run again', icon: 'refresh-cw', path: pagePath(pages.requeueRun, { id }) },
    undo: { label: 'Undo this change', icon: 'undo-2', path: pagePath(pages.undoRun, { id }) },
    delete: { label: 'Delete', icon: 'trash-2', tone: 'danger', path: pagePath(pages.deleteRun, { id }) },
  };
  const shown = run.actions.filter(({ name }) => isShown(name, run, isOverdue(events, now)));
  return renderActions([...shown, ...(undo ? [{ ...undo, name: 'undo' }] : [])], buttons);
}

function isShown(
  action: RunAction,
  { status, deleted_at: deletedAt }: ShownRun,
  cancellationIsOverdue: boolean,
): boolean {
  if (deletedAt !== null || !actionsByStatus[status].includes(action)) return false;
  if (action === 'cancel') return status !== 'canceling';
  if (action === 'force') return status === 'canceling' && cancellationIsOverdue;
  return true;
}

function isOverdue(events: readonly ShownEvent[], now: Date): boolean {
  const asked = events.find(({ type }) => type === 'run.cancel_requested');
  return asked !== undefined && isCancellationOverdue(new Date(asked.at), now);
}

import { isRejection } from '#domain/assemblies/model.ts';
import type { RunStatus } from '#domain/runs/model.ts';
import { type Html, html } from '../html.ts';
import { type IconName, renderIcon } from './icon.ts';

export interface StatusLook {
  readonly word: string;
  readonly icon: IconName;
  /** The tone is a colour of the tokens, `--status-<tone>`. */
  readonly tone: string;
  /** The word for all that have the status, whatever the reason, as filters and counts use it. Without it, that is `word`. */
  readonly groupWord?: string;
}

/** The look of what was canceled. Rejected runs have the same status, and so count among the canceled ones. */
export const canceledLook: StatusLook = {
  word: 'Canceled',
  groupWord: 'Canceled or rejected',
  icon: 'ban',
  tone: 'canceled',
};

/** Every status of a run has a word, a shape and a colour. */
export const runStatusLooks: Readonly<Record<RunStatus, StatusLook>> = {
  queued: { word: 'Queued', icon: 'circle-dashed', tone: 'queued' },
  running: { word: 'Running', icon: 'loader-circle', tone: 'running' },
  pending_approval: { word: 'Needs approval', icon: 'hand', tone: 'approval' },
  canceling: { word: 'Canceling', icon: 'circle-stop', tone: 'canceling' },
  succeeded: { word: 'Succeeded', icon: 'circle-check', tone: 'succeeded' },
  failed: { word: 'Failed', icon: 'octagon-x', tone: 'failed' },
  canceled: canceledLook,
  timed_out: { word: 'Timed out', icon: 'hourglass', tone: 'timed-out' },
};

/** What ended because a reviewer rejected a plan has the status `canceled`, and people look for the decision. */
export const rejectedLook: StatusLook = { word: 'Rejected', icon: 'x', tone: 'canceled' };

/** The word of a filter by a status, or of a count. */
export function groupWordOf({ word, groupWord = word }: StatusLook): string {
  return groupWord;
}

/** What a status is shown for: that of a run, or of an assembly run. */
export interface ShownStatus {
  readonly status: RunStatus;
  /** Why it ended. */
  readonly status_reason: string | null;
}

export function lookOfRun({ status, status_reason: reason }: ShownStatus): StatusLook {
  return isRejection(reason) ? rejectedLook : runStatusLooks[status];
}

export function renderRunStatus(run: ShownStatus): Html {
  return renderStatusBadge(lookOfRun(run));
}

/** A state of anything, as shape, word and colour. */
export function renderStatusBadge({ word, icon, tone }: StatusLook): Html {
  const shape = icon === 'loader-circle' ? html`<span class="turning">${renderIcon(icon)}</span>` : renderIcon(icon);
  return html`<span class="status status-${tone}">${shape}${word}</span>`;
}

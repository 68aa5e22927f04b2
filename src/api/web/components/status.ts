import { isRejection } from '#domain/assemblies/model.ts';
import type { RunStatus } from '#domain/shared/vocabulary/runs.ts';
import type { WaitingCode } from '#domain/shared/vocabulary/waiting.ts';
import { type Html, html } from '../html.ts';
import { type IconName, renderIcon } from './icon.ts';

export interface StatusLook {
  readonly word: string;
  readonly icon: IconName;
  /** The tone is a colour of the tokens, `--status-<tone>`. */
  readonly tone: string;
  /** The word for everything with this status, whatever the reason, in filters and counts. By default, it is `word`. */
  readonly groupWord?: string;
}

/** The look of canceled runs. Rejected runs have the same status, so they count as canceled too. */
export const canceledLook: StatusLook = {
  word: 'Canceled',
  groupWord: 'Canceled or rejected',
  icon: 'ban',
  tone: 'canceled',
};

/** The look of runs that wait for approval. Runs that are approved and wait for something else have the same status. */
export const needsApprovalLook: StatusLook = {
  word: 'Needs approval',
  groupWord: 'Needs approval or held',
  icon: 'hand',
  tone: 'approval',
};

/** The looks of approved runs whose apply has to wait, by the reason. */
const heldLooks: Readonly<Partial<Record<WaitingCode, StatusLook>>> = {
  paused: { word: 'Held by a pause', icon: 'pause', tone: 'queued' },
  locked: { word: 'Held by a lock', icon: 'lock', tone: 'queued' },
  frozen: { word: 'Held by a freeze window', icon: 'snowflake', tone: 'queued' },
  quota: { word: 'Waits for its quota', icon: 'clock', tone: 'queued' },
  pool_share: { word: 'Waits for a slot', icon: 'clock', tone: 'queued' },
};

/** Every status of a run has a word, a shape and a colour. */
export const runStatusLooks: Readonly<Record<RunStatus, StatusLook>> = {
  queued: { word: 'Queued', icon: 'circle-dashed', tone: 'queued' },
  running: { word: 'Running', icon: 'loader-circle', tone: 'running' },
  pending_approval: needsApprovalLook,
  canceling: { word: 'Canceling', icon: 'circle-stop', tone: 'canceling' },
  succeeded: { word: 'Succeeded', icon: 'circle-check', tone: 'succeeded' },
  failed: { word: 'Failed', icon: 'octagon-x', tone: 'failed' },
  canceled: canceledLook,
  timed_out: { word: 'Timed out', icon: 'hourglass', tone: 'timed-out' },
};

/** The look of runs that ended because a reviewer rejected the plan. Their status is `canceled`, but people look for the decision. */
export const rejectedLook: StatusLook = { word: 'Rejected', icon: 'x', tone: 'canceled' };

/** The word for a status in a filter or a count. */
export function groupWordOf({ word, groupWord = word }: StatusLook): string {
  return groupWord;
}

/** The reason why something waits, as far as its badge shows it. */
export interface ShownWaiting {
  readonly code: string;
}

/** The status to show, of a run or of an assembly run. */
export interface ShownStatus {
  readonly status: RunStatus;
  /** Why it ended. */
  readonly status_reason: string | null;
  /** What it waits for, if that is known. */
  readonly waiting_on?: ShownWaiting | null;
}

export function lookOfRun({ status, status_reason: reason, waiting_on: waiting = null }: ShownStatus): StatusLook {
  if (isRejection(reason)) return rejectedLook;
  return status === 'pending_approval' ? lookOfPending(waiting) : runStatusLooks[status];
}

/** The look of a run or a node with a plan: it waits for approval or, once it is approved, for something else. */
export function lookOfPending(waiting: ShownWaiting | null): StatusLook {
  return heldLooks[waiting?.code as WaitingCode] ?? needsApprovalLook;
}

export function renderRunStatus(run: ShownStatus): Html {
  return renderStatusBadge(lookOfRun(run));
}

/** A status as icon, word and colour. */
export function renderStatusBadge({ word, icon, tone }: StatusLook): Html {
  const shape = icon === 'loader-circle' ? html`<span class="turning">${renderIcon(icon)}</span>` : renderIcon(icon);
  return html`<span class="status status-${tone}">${shape}${word}</span>`;
}

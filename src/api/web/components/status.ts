import type { RunStatus } from '#domain/runs/model.ts';
import { type Html, html } from '../html.ts';
import { type IconName, renderIcon } from './icon.ts';

export interface StatusLook {
  readonly word: string;
  readonly icon: IconName;
  /** The tone is a colour of the tokens, `--status-<tone>`. */
  readonly tone: string;
}

/** Every status of a run has a word, a shape and a colour. */
export const runStatusLooks: Readonly<Record<RunStatus, StatusLook>> = {
  queued: { word: 'Queued', icon: 'circle-dashed', tone: 'queued' },
  running: { word: 'Running', icon: 'loader-circle', tone: 'running' },
  pending_approval: { word: 'Needs approval', icon: 'hand', tone: 'approval' },
  canceling: { word: 'Canceling', icon: 'circle-stop', tone: 'canceling' },
  succeeded: { word: 'Succeeded', icon: 'circle-check', tone: 'succeeded' },
  failed: { word: 'Failed', icon: 'octagon-x', tone: 'failed' },
  canceled: { word: 'Canceled', icon: 'ban', tone: 'canceled' },
  timed_out: { word: 'Timed out', icon: 'hourglass', tone: 'timed-out' },
};

/** A run whose plan was rejected ends canceled, and people look for the decision. */
const rejected: StatusLook = { word: 'Rejected', icon: 'x', tone: 'canceled' };

/** What a status is shown for: that of a run, or of an assembly run. */
export interface ShownStatus {
  readonly status: RunStatus;
  /** Why it ended; left out where a rejection is impossible. */
  readonly status_reason?: string | null;
}

export function lookOfRun({ status, status_reason: reason }: ShownStatus): StatusLook {
  return reason === 'rejected' || reason === 'nodes_rejected' ? rejected : runStatusLooks[status];
}

export function renderRunStatus(run: ShownStatus): Html {
  return renderStatusBadge(lookOfRun(run));
}

/** A state of anything, as shape, word and colour. */
export function renderStatusBadge({ word, icon, tone }: StatusLook): Html {
  const shape = icon === 'loader-circle' ? html`<span class="turning">${renderIcon(icon)}</span>` : renderIcon(icon);
  return html`<span class="status status-${tone}">${shape}${word}</span>`;
}

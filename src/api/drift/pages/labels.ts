import type { z } from 'zod';
import { renderStatusBadge } from '#api/web/components/status.ts';
import { type Html, html } from '#api/web/html.ts';
import type { FindingReason, FindingStatus } from '#domain/drift/findings/model.ts';
import type { FindingView, ListedFindingView, ListedMonitorView, MonitorView } from '../views.ts';

export type ShownFinding = z.input<typeof ListedFindingView>;
export type FindingAlone = z.input<typeof FindingView>;
export type ShownMonitor = z.input<typeof ListedMonitorView>;
export type MonitorAlone = z.input<typeof MonitorView>;

const findingLooks = {
  open: { word: 'Open', icon: 'triangle-alert', tone: 'approval' },
  suppressed: { word: 'Suppressed', icon: 'eye-off', tone: 'queued' },
  resolved: { word: 'Resolved', icon: 'circle-check', tone: 'succeeded' },
} as const;

export function renderFindingStatus(status: FindingStatus): Html {
  return renderStatusBadge(findingLooks[status]);
}

/** Why a finding has its status. */
export const reasonWords: Record<FindingReason, string> = {
  observed: 'a scan found it',
  other_value: 'a scan found a value that was not accepted',
  suppression_ended: 'the suppression expired',
  reopened: 'it was reopened',
  suppressed: 'the value was accepted',
  gone: 'a complete scan no longer found it',
  ignored: 'an ignore rule matches it',
  destroyed: 'the instance was destroyed',
};

/** The health of a monitor as a badge. */
export function renderHealth({ scope, enabled, last_failure: failure, ...monitor }: ShownMonitor): Html {
  if (!enabled) return renderStatusBadge({ word: 'Off', icon: 'pause', tone: 'canceled' });
  if (scope !== 'instance') return html`<span class="muted">inherited by instances</span>`;
  if (monitor.scan_run_id) return renderStatusBadge({ word: 'Scanning', icon: 'loader-circle', tone: 'running' });
  if (monitor.scan_refusal) return renderStatusBadge({ word: 'Cannot be scanned', icon: 'ban', tone: 'timed-out' });
  if (failure) return renderStatusBadge({ word: 'Failing', icon: 'octagon-x', tone: 'failed' });
  if (monitor.stale) return renderStatusBadge({ word: 'Stale', icon: 'hourglass', tone: 'timed-out' });
  if (monitor.last_success_at === null)
    return renderStatusBadge({ word: 'Not scanned yet', icon: 'circle-dashed', tone: 'queued' });
  if (monitor.instance_changed_at)
    return renderStatusBadge({ word: 'Changed since the scan', icon: 'hourglass', tone: 'timed-out' });
  return monitor.open_findings > 0
    ? renderStatusBadge({ word: 'Drifted', icon: 'triangle-alert', tone: 'approval' })
    : renderStatusBadge({ word: 'In sync', icon: 'circle-check', tone: 'succeeded' });
}

import type { z } from 'zod';
import type { Crumb } from '#api/web/components/page-head.ts';
import { renderStatusBadge, type StatusLook } from '#api/web/components/status.ts';
import { type Html, html } from '#api/web/html.ts';
import { type LocalPath, pagePath, pages } from '#api/web/paths.ts';
import { findResourcePath } from '#api/web/resource-kinds.ts';
import type { NotificationKind, NotificationState, SubjectKind } from '#domain/notifications/model.ts';
import type { NotificationView } from '../operations.ts';

export type ShownNotification = z.input<typeof NotificationView>;

export const notificationsCrumb: Crumb = { label: 'Notifications', path: pagePath(pages.notifications) };

/** What each kind is called in filters and in the table of preferences. */
export const kindLabels: Readonly<Record<NotificationKind, string>> = {
  'run.approval_requested': 'Review requested',
  'run.finished': 'Run ended',
  'drift_monitor.drifted': 'Drift found',
  'drift_monitor.scan_failed': 'Scan failed',
  'webhook.disabled': 'Webhook disabled',
  'quota.exceeded': 'Quota full',
  'api_key.expiring': 'Key ends',
  'drift_finding.suppression_ending': 'Suppression ends',
  'instance.expiring': 'Time to live ends',
};

const looks: Readonly<Record<NotificationState, StatusLook>> = {
  unread: { word: 'Unread', icon: 'bell', tone: 'running' },
  read: { word: 'Read', icon: 'check', tone: 'queued' },
  archived: { word: 'Archived', icon: 'archive', tone: 'canceled' },
};

export function renderState(state: NotificationState): Html {
  return renderStatusBadge(looks[state]);
}

/** The types under which the subjects have their pages. */
const typeOfSubject: Readonly<Record<SubjectKind, string | null>> = {
  run: 'runs',
  drift_monitor: 'drift_monitors',
  drift_finding: 'drift_findings',
  webhook: 'webhooks',
  instance: 'instances',
  quota: null,
  api_key: null,
};

/** The page of what a notification is about. */
export function subjectPath({ kind, id }: ShownNotification['subject']): LocalPath {
  const type = typeOfSubject[kind];
  const found = type === null ? null : findResourcePath(type, { id, organizationId: null });
  return found ?? pagePath(kind === 'quota' ? pages.quotas : pages.profile);
}

export function renderTitle({ subject, title }: ShownNotification): Html {
  return html`<a class="foreign" href="${subjectPath(subject)}">${title}</a>`;
}

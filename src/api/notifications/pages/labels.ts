import type { z } from 'zod';
import type { Crumb } from '#api/web/components/page-head.ts';
import { renderStatusBadge, type StatusLook } from '#api/web/components/status.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { subjectPath } from '#domain/news/subjects.ts';
import type { NotificationState } from '#domain/notifications/model.ts';
import type { ListedNotificationView, ThreadView } from '../views.ts';

export type ShownNotification = z.input<typeof ListedNotificationView>;
export type ShownThread = z.input<typeof ThreadView>;

export const notificationsCrumb: Crumb = { label: 'Notifications', path: pagePath(pages.notifications) };

const looks: Readonly<Record<NotificationState, StatusLook>> = {
  unread: { word: 'Unread', icon: 'bell', tone: 'running' },
  read: { word: 'Read', icon: 'check', tone: 'queued' },
  archived: { word: 'Archived', icon: 'archive', tone: 'canceled' },
};

export function renderState(state: NotificationState): Html {
  return renderStatusBadge(looks[state]);
}

export function renderTitle({ subject, title }: ShownNotification): Html {
  return html`<a class="foreign" href="${subjectPath(subject.kind, subject.id)}">${title}</a>`;
}

import type { SubjectKind } from '#domain/notifications/model.ts';

/** The paths of pages to which messages lead. A test compares them with the list of pages. */
const subjectPaths: Readonly<Record<SubjectKind, (id: string) => string>> = {
  run: (id) => `/workloads/runs/${id}`,
  drift_monitor: (id) => `/drift/monitors/${id}`,
  drift_finding: (id) => `/drift/findings/${id}`,
  webhook: (id) => `/admin/webhooks/${id}`,
  instance: (id) => `/workloads/instances/${id}`,
  quota: () => '/admin/quotas',
  api_key: () => '/profile',
};

/** The page of what a message is about; null if it has none. */
export function subjectPath(kind: string, id: string): string | null {
  return Object.hasOwn(subjectPaths, kind) ? subjectPaths[kind as SubjectKind](id) : null;
}

/** Tokens of invitations and confirmations come behind `#`, so that they are never part of a request's address. */
export const invitationPath = (token: string) => `/invitations/accept#token=${encodeURIComponent(token)}`;
export const passwordResetPath = (token: string) => `/password-reset?token=${encodeURIComponent(token)}`;
export const emailConfirmationPath = (token: string) =>
  `/profile/email-confirmation#token=${encodeURIComponent(token)}`;
export const preferencesPath = '/notifications/preferences';

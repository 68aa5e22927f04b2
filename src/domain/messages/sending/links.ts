import type { SubjectKind } from '#domain/notifications/model.ts';

type Path = `/${string}`;

export const profilePath = '/profile';
export const preferencesPath = '/notifications/preferences';

/** The page of each kind of subject. A test compares the paths with the list of pages. */
const subjectPaths: Readonly<Record<SubjectKind, (id: string) => Path>> = {
  run: (id) => `/workloads/runs/${id}`,
  drift_monitor: (id) => `/drift/monitors/${id}`,
  drift_finding: (id) => `/drift/findings/${id}`,
  webhook: (id) => `/admin/webhooks/${id}`,
  instance: (id) => `/workloads/instances/${id}`,
  quota: () => '/admin/quotas',
  api_key: () => profilePath,
};

/** The page of what a message or a notification is about. */
export function subjectPath(kind: SubjectKind, id: string): Path {
  return subjectPaths[kind](id);
}

/** Tokens come behind `#`, so that they are never part of a request's address. */
export const invitationPath = (token: string) => `/invitations/accept#token=${encodeURIComponent(token)}`;
export const passwordResetPath = (token: string) => `/password-reset#token=${encodeURIComponent(token)}`;
export const emailConfirmationPath = (token: string) =>
  `/profile/email-confirmation#token=${encodeURIComponent(token)}`;

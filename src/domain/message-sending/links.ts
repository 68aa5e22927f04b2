import type { Em } from '#database/database.ts';
import type { SubjectKind } from '#domain/news/model.ts';
import type { Subject } from '#domain/news/subjects.ts';
import { installationId } from '#domain/quotas/model.ts';
import { findQuotaOwner, type QuotaOwner } from '#domain/quotas/owner-store.ts';

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

/** Those who may read quotas, or those whom a quota limits. */
export type LinkReader = 'administrators' | 'owners';

/**
 * The page of a subject that these readers may open. Administrators alone may open the page of a quota: others get the page of the owner that it
 * limits.
 */
export async function findSubjectPath(em: Em, { kind, id }: Subject, readers: LinkReader): Promise<Path> {
  if (kind !== 'quota') return subjectPath(kind, id);
  const owner = await findQuotaOwner(em, id);
  if (!owner) return `/admin/quotas/installation/${installationId}`;
  return readers === 'administrators' ? `/admin/quotas/${owner.scope}/${id}` : pageOf(owner);
}

function pageOf({ organizationId, teamId, environmentId }: QuotaOwner): Path {
  if (environmentId !== null) return `/environments/${environmentId}`;
  return teamId === null ? `/organizations/${organizationId}` : `/organizations/${organizationId}/teams/${teamId}`;
}

/** Tokens come behind `#`, so that they are never part of a request's address. */
export const invitationPath = (token: string) => `/invitations/accept#token=${encodeURIComponent(token)}`;
export const passwordResetPath = (token: string) => `/password-reset#token=${encodeURIComponent(token)}`;
export const emailConfirmationPath = (token: string) =>
  `/profile/email-confirmation#token=${encodeURIComponent(token)}`;

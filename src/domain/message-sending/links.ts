import type { Em } from '#database/database.ts';
import type { Path } from '#domain/news/subject-kinds.ts';
import { type Subject, subjectPath } from '#domain/news/subjects.ts';
import { findQuotaOwner, type QuotaOwner } from '#domain/quotas/owner-store.ts';
import { installationId } from '#domain/shared/vocabulary/quotas.ts';

export const profilePath: Path = '/profile';
export const preferencesPath = '/notifications/preferences';

/** The readers of a link: those who may read quotas, or those whom a quota limits. */
export type LinkReader = 'administrators' | 'owners';

/**
 * The page of a subject that these readers may open. Only administrators may open the page of a quota: others get the page of the owner
 * that it limits.
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

/** Tokens follow `#`, so that browsers never send them in the address of a request. */
export const invitationPath = (token: string) => `/invitations/accept#token=${encodeURIComponent(token)}`;
export const passwordResetPath = (token: string) => `/password-reset#token=${encodeURIComponent(token)}`;
export const emailConfirmationPath = (token: string) =>
  `/profile/email-confirmation#token=${encodeURIComponent(token)}`;

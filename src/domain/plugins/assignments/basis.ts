import type { Reason } from '../model.ts';

/**
 * What an assignment relies on, as it was when somebody made it. None of these values ever comes back once it has changed: generations
 * and revisions only grow, a membership that begins again has another id, and so has an approval that is given again. So an assignment
 * that has ended never revives (specification, *Plugin action rules*).
 */
export interface Basis {
  /** The revision of the installation: an activation raises it. */
  readonly installation: number;
  /** The approval of the action in the ceiling. */
  readonly approval: string;
  /** The generation of the principal, with its membership or its owner. */
  readonly subject: string;
  /** The scope with all its owners and their generations. */
  readonly scope: string;
}

/** What an assignment relies on, as it is now. Null: there is no such thing, or it is not eligible. */
export interface Standing {
  readonly installation: number | null;
  readonly isDeclared: boolean;
  readonly approval: string | null;
  readonly subject: string | null;
  readonly scope: string | null;
}

export type EndCode = 'revoked' | 'release_changed' | 'action_not_approved' | 'scope_changed' | 'subject_ineligible';

const messages: Record<EndCode, string> = {
  revoked: 'the assignment was revoked',
  release_changed: 'another release was activated since the action was assigned',
  action_not_approved: 'the ceiling of the installation stopped approving the action since it was assigned',
  scope_changed:
    'the scope, or an owner of it, was archived, deleted, restored or given to another owner since the action was assigned',
  subject_ineligible:
    'the principal was disabled or deleted, left the team or organization, or got another owner since the action was assigned',
};

/** Why an assignment is no longer in force; null while it is. Somebody must assign the action anew. */
export function findEnd(
  { revokedAt, basis }: { readonly revokedAt: string | null; readonly basis: Basis },
  now: Standing,
): Reason<EndCode> | null {
  const code = endOf(basis, now, revokedAt !== null);
  return code && { code, message: messages[code] };
}

function endOf(basis: Basis, now: Standing, isRevoked: boolean): EndCode | null {
  if (isRevoked) return 'revoked';
  if (now.installation !== basis.installation || !now.isDeclared) return 'release_changed';
  if (now.approval !== basis.approval) return 'action_not_approved';
  if (now.scope !== basis.scope) return 'scope_changed';
  return now.subject === basis.subject ? null : 'subject_ineligible';
}

/** The basis of an assignment that is made now; null if something is not eligible. */
export function toBasis({ installation, isDeclared, approval, subject, scope }: Standing): Basis | null {
  if (installation === null || !isDeclared || approval === null || subject === null || scope === null) return null;
  return { installation, approval, subject, scope };
}

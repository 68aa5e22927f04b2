import type { EndRecord } from '#domain/shared/access/ended-eligibility.ts';
import { pluginRemoved, type Reason } from '../model.ts';
import { findScopeEnd, type ScopeStanding, scopeEnds } from '../places/scope-end.ts';

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
  /** The owner chain of the place: it with all its owners and their generations. */
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

/** What keeps a subject from using anything at a place. */
export type Absence = 'deleted' | 'revoked' | 'disabled' | 'transferred' | 'out_of_scope' | 'left' | 'archived';

/** Why an assignment is no longer in force, in the order in which the reasons are told. */
export const ends = {
  revoked: 'the assignment was revoked',
  plugin_removed: pluginRemoved,
  ...scopeEnds,
  subject_deleted: 'the principal was deleted',
  subject_revoked: 'the background principal was revoked',
  subject_disabled: 'the principal is disabled',
  subject_transferred: 'the service account got another owner',
  subject_out_of_scope: 'the place of the background principal changed: approve another background principal',
  subject_left: 'the principal left the team or the organization',
  subject_archived: 'the team of the service account is archived',
  subject_returned:
    'the principal was disabled or left, or its team was archived or given away, since the action was assigned, and came back',
  release_changed: 'a release was activated since the action was assigned',
  action_not_approved: 'the ceiling of the installation stopped approving the action since it was assigned',
} as const;
export type EndCode = keyof typeof ends;

/** Why an assignment has ended. */
export interface End extends Reason<EndCode> {
  /** What else has happened since that would have ended it. */
  readonly others: readonly EndCode[];
}

/** An assignment, with what can be said of its place and its subject now. */
interface Assigned {
  readonly revokedAt: string | null;
  readonly basis: Basis;
  readonly place: ScopeStanding;
  readonly absence: Absence | null;
}

/** Why an assignment is no longer in force; null while it is. Somebody must assign the action anew. */
export function findEnd({ revokedAt, basis, place, absence }: Assigned, now: Standing): End | null {
  // The removal of a plugin ends its release and its ceiling too: they are no further reasons.
  const isReleaseSame = now.installation === basis.installation && now.isDeclared;
  const found: readonly (EndCode | null)[] = [
    revokedAt === null ? null : 'revoked',
    now.installation === null ? 'plugin_removed' : null,
    now.scope === basis.scope ? null : (findScopeEnd(basis.scope, place) ?? 'scope_restored'),
    now.subject === basis.subject ? null : subjectEndOf(absence),
    isReleaseSame || now.installation === null ? null : 'release_changed',
    now.approval === basis.approval || now.installation === null ? null : 'action_not_approved',
  ];
  const [code, ...others] = found.flatMap((each) => each ?? []);
  return code === undefined ? null : { code, message: ends[code], others };
}

/** The end of each part of what an assignment relied on; null if it has not ended, or if it did before the service wrote that down. */
export interface EndRecords {
  readonly revocation: EndRecord | null;
  readonly removal: EndRecord | null;
  readonly installationEnd: EndRecord | null;
  readonly approvalEnd: EndRecord | null;
  readonly subjectEnd: EndRecord | null;
  readonly scopeEnd: EndRecord | null;
}

/** When the reason of an end first applied, and who brought it about; null if that was not written down. */
export function findEndRecord(code: EndCode, records: EndRecords): EndRecord | null {
  if (code in scopeEnds) return records.scopeEnd;
  if (code.startsWith('subject_')) return records.subjectEnd;
  if (code === 'revoked') return records.revocation;
  if (code === 'plugin_removed') return records.removal;
  return code === 'release_changed' ? records.installationEnd : records.approvalEnd;
}

function subjectEndOf(absence: Absence | null): EndCode {
  return absence === null ? 'subject_returned' : `subject_${absence}`;
}

/** The basis of an assignment that is made now; null if something is not eligible. */
export function toBasis({ installation, isDeclared, approval, subject, scope }: Standing): Basis | null {
  if (installation === null || !isDeclared || approval === null || subject === null || scope === null) return null;
  return { installation, approval, subject, scope };
}

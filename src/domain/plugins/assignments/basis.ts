import type { EndRecord } from '#domain/shared/access/ended-eligibility.ts';
import { pluginRemoved, type Reason } from '../model.ts';
import { findScopeEnd, type ScopeStanding, scopeEnds } from '../places/scope-end.ts';

/**
 * The values on which an assignment relies, at its creation. A changed value never returns: generations and revisions only grow, and a
 * renewed membership or approval has another id. So an assignment that has ended never revives (specification, *Plugin action rules*).
 */
export interface Basis {
  /** The revision of the installation: an activation raises it. */
  readonly installation: number;
  /** The approval of the action in the ceiling. */
  readonly approval: string;
  /** The generation of the principal, with its membership or its owner. */
  readonly subject: string;
  /** The owner chain of the place: its own id and those of all its owners, with their generations. */
  readonly scope: string;
}

/** The present values of what an assignment relies on. Null: it does not exist, or is not eligible. */
export interface Standing {
  readonly installation: number | null;
  readonly isDeclared: boolean;
  readonly approval: string | null;
  readonly subject: string | null;
  readonly scope: string | null;
}

/** Why a subject cannot use anything at a place. */
export type Absence = 'deleted' | 'revoked' | 'disabled' | 'transferred' | 'out_of_scope' | 'left' | 'archived';

/** Why an assignment is no longer in force, in the order in which the reasons are reported. */
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
  /** Further reasons that would have ended it too. */
  readonly others: readonly EndCode[];
}

/** An assignment, with the present state of its place and its subject. */
interface Assigned {
  readonly revokedAt: string | null;
  readonly basis: Basis;
  readonly place: ScopeStanding;
  readonly absence: Absence | null;
}

/** Why an assignment is no longer in force; null while it is. An ended assignment never revives: somebody must assign the action again. */
export function findEnd({ revokedAt, basis, place, absence }: Assigned, now: Standing): End | null {
  // The removal of a plugin also ends its release and its ceiling, so these are not reported as further reasons.
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

/** The end of each part of the basis of an assignment; null if it has not ended, or if an earlier release did not record the end. */
export interface EndRecords {
  readonly revocation: EndRecord | null;
  readonly removal: EndRecord | null;
  readonly installationEnd: EndRecord | null;
  readonly approvalEnd: EndRecord | null;
  readonly subjectEnd: EndRecord | null;
  readonly scopeEnd: EndRecord | null;
}

/** When the reason of an end first applied, and who caused it; null if that was not recorded. */
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

/** The basis of a new assignment; null if something is not eligible. */
export function toBasis({ installation, isDeclared, approval, subject, scope }: Standing): Basis | null {
  if (installation === null || !isDeclared || approval === null || subject === null || scope === null) return null;
  return { installation, approval, subject, scope };
}

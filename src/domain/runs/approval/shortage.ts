/** Compares who may approve with the approvals that are needed. Pure. */

/** Why runs do not get their approvals, the worst first. */
export const approvalShortages = ['unreachable', 'own_runs', 'administrators'] as const;
export type ApprovalShortage = (typeof approvalShortages)[number];

/** The people who may approve, each once, however many accounts act for them. */
export interface Approvers {
  /** Those of the team and of the administration of its organization. */
  readonly members: ReadonlySet<string>;
  /** The administrators of the installation. */
  readonly administrators: ReadonlySet<string>;
}

/**
 * Why a run cannot get the approvals that it needs from its team; null if the members can give them.
 * @param excludesAuthor whether one of these people may be the author of a run and then cannot approve it
 */
export function findShortage(
  needed: number,
  excludesAuthor: boolean,
  { members, administrators }: Approvers,
): ApprovalShortage | null {
  if (needed <= 0) return null;
  const all = new Set([...members, ...administrators]).size;
  if (needed > all) return 'unreachable';
  if (excludesAuthor && needed > all - 1) return 'own_runs';
  return needed > members.size ? 'administrators' : null;
}

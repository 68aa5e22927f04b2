import { type HoldBlocker, type HoldCode, holdCodes } from './holds.ts';
import type { QuotaBlocker } from './quotas.ts';

/** The reasons why runs wait. Pure. */

/** Why a run waits; `blocker` is the id of the run for which it waits, the hold of its apply, or the quota that has no place for it. */
export const waitingCodes = [
  'engine',
  'instance_busy',
  'quota',
  'pool_share',
  'no_worker',
  'approval',
  ...holdCodes,
] as const;
export type WaitingCode = (typeof waitingCodes)[number];

export function isHold(code: WaitingCode): code is HoldCode {
  return (holdCodes as readonly string[]).includes(code);
}

/** The owners of a share of a pool's slots that a run can lack. */
export const shares = ['team', 'person'] as const;
export type Share = (typeof shares)[number];

/** The quota for which a run waits; null if it waits for something else, or for nothing. */
export function findQuotaBlocker(waitingOn: WaitingOn | null | undefined): QuotaBlocker | null {
  const blocker = waitingOn?.code === 'quota' ? waitingOn.blocker : null;
  return blocker !== null && typeof blocker === 'object' && 'scope' in blocker ? blocker : null;
}

export interface WaitingOn {
  code: WaitingCode;
  since: string;
  position: number | null;
  blocker: string | HoldBlocker | QuotaBlocker | null;
  /** `pool_share`: whose share is exhausted. Absent for runs that an earlier release let wait. */
  share?: Share;
  /** `no_worker`: a worker with one of these tools could execute the run. An empty version means any version. */
  tools?: { name: string; version: string }[];
}

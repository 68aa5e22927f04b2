import type { PrincipalKind } from '#domain/identity/model.ts';

/** What runs wait for. Pure. */

/** A principal, with its name at that time. */
export interface PrincipalReference {
  type: PrincipalKind;
  id: string;
  name: string;
}

/** What keeps every apply from starting: a pause of the installation, a lock or a freeze window of the environment. */
export const holdCodes = ['paused', 'locked', 'frozen'] as const;
export type HoldCode = (typeof holdCodes)[number];

/** Who or what holds the applies. */
export interface HoldBlocker {
  /** Who paused or locked; null for a freeze window. */
  by: PrincipalReference | null;
  /** The name of the freeze window; null for a pause or a lock. */
  name: string | null;
  reason: string;
  /** RFC 3339; null: until somebody ends it. */
  until: string | null;
}

/** Why a run waits; `blocker` is the id of the run that it waits for, or what holds its apply. */
export const waitingCodes = ['engine', 'instance_busy', 'quota', 'no_worker', 'approval', ...holdCodes] as const;
export type WaitingCode = (typeof waitingCodes)[number];

export function isHold(code: WaitingCode): code is HoldCode {
  return (holdCodes as readonly string[]).includes(code);
}

export interface WaitingOn {
  code: WaitingCode;
  since: string;
  position: number | null;
  blocker: string | HoldBlocker | null;
}

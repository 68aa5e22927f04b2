import { type HoldBlocker, type HoldCode, holdCodes } from '#domain/holds/model.ts';

/** What runs wait for. Pure. */

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

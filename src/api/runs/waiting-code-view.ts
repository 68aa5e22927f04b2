import { z } from 'zod';
import { type WaitingOn, waitingCodes } from '#domain/shared/vocabulary/waiting.ts';

/** The reason why a run waits, in answers that show only the status of a run. */
export const WaitingCodeView = z.object({ code: z.enum(waitingCodes) });

export function viewWaitingCode(waiting: WaitingOn | null | undefined): z.input<typeof WaitingCodeView> | null {
  return waiting ? { code: waiting.code } : null;
}

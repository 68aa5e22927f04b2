import type { ErrorCode } from '#domain/error-codes.ts';
import type { ErrorKind } from '#domain/shared/errors.ts';

/** The name of the workflow, which histories contain: it never changes. */
export const restorationWorkflow = 'pluginRestoration';

/** How far a restoration is. Each state but the first is an end. */
export const restorationStates = ['running', 'restored', 'refused'] as const;
export type RestorationState = (typeof restorationStates)[number];

/** Why a restoration restored nothing: the error with which its request is answered. */
export interface RestorationProblem {
  readonly kind: ErrorKind;
  readonly code: ErrorCode;
  readonly message: string;
}

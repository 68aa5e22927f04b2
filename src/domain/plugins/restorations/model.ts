import type { ErrorCode } from '#domain/error-codes.ts';
import type { ErrorKind } from '#domain/shared/errors.ts';

/** The workflow type of restorations. The histories of workflows contain it, so it never changes. */
export const restorationWorkflow = 'pluginRestoration';

/** The states of a restoration. All except the first are final. */
export const restorationStates = ['running', 'restored', 'refused'] as const;
export type RestorationState = (typeof restorationStates)[number];

/** Why a restoration failed: the error with which its request is answered. */
export interface RestorationProblem {
  readonly kind: ErrorKind;
  readonly code: ErrorCode;
  readonly message: string;
}

import type { ExecutionReason } from '#domain/shared/vocabulary/run-reasons.ts';

/** Ends an attempt as failed, with a reason that clients may match and a message for people. */
export class AttemptFailure extends Error {
  readonly reason: ExecutionReason;

  constructor(reason: ExecutionReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function codeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}

/** Writes an unexpected error to standard error for the operator. It never goes into a run's log. */
export function reportUnexpectedError(error: unknown): void {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : messageOf(error)}\n`);
}

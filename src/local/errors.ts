/** The reason why `start` cannot continue, in one sentence that says what to do. It is printed without a stack trace. */
export class StartError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'StartError';
  }
}

/** The message of any thrown value. */
export function describeError(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).trim();
}

export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

/** Why the embedded default cannot start, in one sentence that says what to do. Shown without a stack trace. */
export class StartError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'StartError';
  }
}

/** What any thrown value has to say, in one line. */
export function describeError(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).trim();
}

export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

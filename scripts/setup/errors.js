/** Why set-up cannot go on, in one sentence that says what to do. It is printed without a stack trace. */
export class SetupError extends Error {}

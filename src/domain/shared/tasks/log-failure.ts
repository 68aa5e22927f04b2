import type { Logger } from 'pino';

/** Does a part of a task that is repeated. If it fails, this logs why and lets the other parts go on: the next repetition tries it again. */
export async function logFailure(
  { log }: { readonly log: Pick<Logger, 'warn'> },
  failure: string,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    log.warn({ err: error }, `${failure}; trying again`);
  }
}

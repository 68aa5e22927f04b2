import { ApplicationFailure, CancelledFailure } from '@temporalio/activity';
import type { Logger } from 'pino';

/**
 * Keeps error messages out of the engine's history, because they may contain values that a run must not show. The full error
 * goes to the log; the history only names the activity.
 */
export function redactActivityErrors<A extends object>(activities: A, log: Logger): A {
  const redacting = Object.entries(activities).map(([name, activity]) => [name, redactErrors(name, activity, log)]);
  return Object.fromEntries(redacting) as A;
}

function redactErrors(name: string, activity: (...args: unknown[]) => Promise<unknown>, log: Logger) {
  return async (...args: unknown[]): Promise<unknown> => {
    try {
      return await activity(...args);
    } catch (error) {
      if (error instanceof CancelledFailure) throw new CancelledFailure('canceled');
      log.error({ err: error, activity: name, request: args[0] }, 'an activity failed');
      throw ApplicationFailure.create({ message: `${name} failed; see the worker's log`, type: 'Concealed' });
    }
  };
}

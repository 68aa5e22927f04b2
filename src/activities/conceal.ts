import { ApplicationFailure, CancelledFailure } from '@temporalio/activity';
import type { Logger } from 'pino';

/**
 * Keeps what went wrong out of the engine's history: an error's message may repeat values that a run must not show. The
 * log has the error; history has the name of the activity.
 */
export function concealFailures<A extends object>(activities: A, log: Logger): A {
  const concealed = Object.entries(activities).map(([name, activity]) => [name, conceal(name, activity, log)]);
  return Object.fromEntries(concealed) as A;
}

function conceal(name: string, activity: (...args: unknown[]) => Promise<unknown>, log: Logger) {
  return async (...args: unknown[]): Promise<unknown> => {
    try {
      return await activity(...args);
    } catch (error) {
      if (error instanceof CancelledFailure) throw new CancelledFailure('canceled');
      log.error({ err: error, activity: name, request: args[0] }, 'an activity failed');
      throw ApplicationFailure.create({ message: `${name} failed; the log of the worker says why`, type: 'Concealed' });
    }
  };
}

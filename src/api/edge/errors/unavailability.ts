import { mayPass } from '#database/errors.ts';
import { isEngineUnreachable } from '#engine/connection.ts';

/** Whether an error or one of its causes says that the database or the workflow engine is unavailable or overloaded. */
export function isDependencyUnavailable(error: unknown): boolean {
  return mayPass(error) || isEngineUnreachable(error);
}

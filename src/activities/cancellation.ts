import type { Context } from '@temporalio/activity';

/**
 * Returns a signal that aborts when the engine asks for an attempt to end. If the engine no longer knows the activity or has
 * timed it out, it lost contact with this worker, which does not end the attempt. The database decides whether an attempt is
 * over, and is polled for that.
 */
export function watchCancellation(context: Context): AbortSignal {
  const requested = new AbortController();
  const check = () => {
    const { notFound = false, timedOut = false } = context.cancellationDetails ?? {};
    if (!notFound && !timedOut) requested.abort();
  };
  if (context.cancellationSignal.aborted) check();
  else context.cancellationSignal.addEventListener('abort', check, { once: true });
  return requested.signal;
}

import type { Context } from '@temporalio/activity';

/**
 * Aborts when the engine wants an attempt to end. That it no longer knows the activity is no such wish: it was away for too
 * long and took this worker for lost. The database says whether the attempt is over, and is asked all the time.
 */
export function watchEngine(context: Context): AbortSignal {
  const wish = new AbortController();
  const look = () => {
    const { notFound = false, timedOut = false } = context.cancellationDetails ?? {};
    if (!notFound && !timedOut) wish.abort();
  };
  if (context.cancellationSignal.aborted) look();
  else context.cancellationSignal.addEventListener('abort', look, { once: true });
  return wish.signal;
}

import { Context } from '@temporalio/activity';
import { watchCancellation } from './cancellation.ts';

const heartbeatMs = 3_000;

/** Sends heartbeats to the engine during `work`, which gets a signal that aborts when the engine cancels it. */
export async function withHeartbeat<Result>(work: (canceled: AbortSignal) => Promise<Result>): Promise<Result> {
  const context = Context.current();
  const heartbeat = setInterval(() => context.heartbeat(), heartbeatMs);
  try {
    return await work(watchCancellation(context));
  } finally {
    clearInterval(heartbeat);
  }
}

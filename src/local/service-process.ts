import { flushCompileCache } from 'node:module';
import { finishesWithin, waitForStop } from './lifetime.ts';

/** The message that a service process sends to its parent process when it is ready. */
export type Ready = {
  readonly type: 'ready';
  readonly url?: string;
  readonly adminUrl?: string;
  /** A sentence to show to the user who started the service. */
  readonly notice?: string;
};

type Service = {
  readonly url?: string;
  readonly adminUrl?: string;
  readonly notice?: string;
  /** Settles when the service ends on its own. */
  readonly done?: Promise<void>;
  /** How long `close` may take. Default: a little less than orchestrators usually wait after SIGTERM. */
  readonly stopWithinMs?: number;
  close(): Promise<void>;
};

/** Orchestrators usually wait 30 seconds between SIGTERM and SIGKILL. */
const usualStopWithinMs = 28_000;
/** If the parent has ended, the embedded servers are stopping too, so there is little left to finish. */
const abandonWithinMs = 6_000;

/**
 * Starts a service and runs it until the process is asked to stop. Then closes it, within a time limit.
 * @returns the exit code
 */
export async function runService(start: () => Promise<Service>): Promise<number> {
  const stop = waitForStop();
  // The start may wait for a server. A request to stop must not wait for it.
  const service = await Promise.race([start(), stop.then(() => null)]);
  if (service === null) return 0;
  announce({
    type: 'ready',
    ...(service.url && { url: service.url }),
    ...(service.adminUrl && { adminUrl: service.adminUrl }),
    ...(service.notice && { notice: service.notice }),
  });
  // Otherwise, a process that is killed would leave all compiling to its successor.
  flushCompileCache();
  const reason = await Promise.race([stop, service.done?.then(() => 'ended' as const) ?? stop]);
  const bound = reason === 'parent gone' ? abandonWithinMs : (service.stopWithinMs ?? usualStopWithinMs);
  if (!(await finishesWithin(service.close(), bound))) {
    console.error(`Stopping took longer than ${bound / 1000} seconds; work in progress was abandoned.`);
    return 1;
  }
  return reason === 'ended' ? 1 : 0;
}

function announce(ready: Ready): void {
  // An error means that the parent has ended, which the `disconnect` event reports.
  process.send?.(ready, undefined, undefined, () => {});
}

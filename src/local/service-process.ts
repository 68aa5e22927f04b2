import { isDoneWithin, waitForStop } from './lifetime.ts';

/** What a service process tells the process that started it, once it is ready. */
export type Ready = {
  readonly type: 'ready';
  readonly url?: string;
  readonly adminUrl?: string;
  /** A sentence for whoever started the service. */
  readonly notice?: string;
};

type Service = {
  readonly url?: string;
  readonly adminUrl?: string;
  readonly notice?: string;
  /** Settles when the service ends by itself. */
  readonly done?: Promise<void>;
  /** How long `close` may take; without it, a little less than orchestrators usually grant after SIGTERM. */
  readonly stopWithinMs?: number;
  close(): Promise<void>;
};

/** Orchestrators usually grant 30 seconds between SIGTERM and SIGKILL. */
const usualStopWithinMs = 28_000;
/** Without a parent the embedded services are going away too: there is little left to finish. */
const abandonWithinMs = 6_000;

/**
 * Starts a service and runs it until the process is asked to end; then closes it, for a bounded time.
 * @returns the exit code
 */
export async function runService(start: () => Promise<Service>): Promise<number> {
  const stop = waitForStop();
  // Starting may mean waiting for a server: whoever wants the process to end need not wait, too.
  const service = await Promise.race([start(), stop.then(() => null)]);
  if (service === null) return 0;
  announce({
    type: 'ready',
    ...(service.url && { url: service.url }),
    ...(service.adminUrl && { adminUrl: service.adminUrl }),
    ...(service.notice && { notice: service.notice }),
  });
  const reason = await Promise.race([stop, service.done?.then(() => 'ended' as const) ?? stop]);
  const bound = reason === 'parent gone' ? abandonWithinMs : (service.stopWithinMs ?? usualStopWithinMs);
  if (!(await isDoneWithin(service.close(), bound))) {
    console.error(`Stopping took longer than ${bound / 1000} seconds: what was under way is abandoned.`);
    return 1;
  }
  return reason === 'ended' ? 1 : 0;
}

function announce(ready: Ready): void {
  // A parent that is gone by now is noticed as a disconnect.
  process.send?.(ready, undefined, undefined, () => {});
}

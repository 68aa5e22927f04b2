import { sweepAttempt } from './attempt-directory.ts';
import { ExecutorHost } from './executor-host.ts';
import type { ExecutorUser } from './protocol.ts';
import type { InstalledTool } from './tools.ts';

/**
 * Starting an executor takes as long as planning something small. So beside each attempt one is started ahead for the
 * next, as an apply usually follows its plan. It is a clean process that never saw an attempt; unused, it goes.
 */
const idleMs = 60_000;

interface Spare {
  readonly key: string;
  readonly host: Promise<ExecutorHost>;
  readonly timer: NodeJS.Timeout;
}

let spare: Spare | null = null;

/** An executor process for one attempt: the one that stands ready, or a new one. */
export async function takeHost(
  user: ExecutorUser | null | undefined,
  tool: InstalledTool | null,
): Promise<ExecutorHost> {
  const ready = spare;
  if (ready?.key !== keyOf(user)) return ExecutorHost.start(user);
  spare = null;
  clearTimeout(ready.timer);
  const host = await ready.host.catch(() => null);
  if (host === null || host.hasExited || (tool !== null && !host.reaches(tool))) {
    if (host !== null) void discard(host);
    return ExecutorHost.start(user);
  }
  host.hold(true);
  return host;
}

/** Has an executor stand ready for a while. It keeps no worker alive, and ends with it. */
export function keepSpare(user: ExecutorUser | null | undefined): void {
  if (spare !== null) return;
  const host = ExecutorHost.start(user).then((started) => {
    started.hold(false);
    return started;
  });
  const started: Spare = { key: keyOf(user), host, timer: setTimeout(() => dismiss(started), idleMs).unref() };
  host.catch(() => {
    if (spare === started) spare = null;
  });
  spare = started;
}

function dismiss(unused: Spare): void {
  if (spare === unused) spare = null;
  void unused.host.then(discard);
}

async function discard(host: ExecutorHost): Promise<void> {
  host.channel.destroy();
  await host.exited;
  await sweepAttempt(null, host.identity, host.cookie);
  host.identity.release();
}

function keyOf(user: ExecutorUser | null | undefined): string {
  return user ? `${user.uid}:${user.gid}` : 'default';
}

/** Why a process must stop: it received a signal, or the process that started it has ended. */

export type StopReason = 'signal' | 'parent gone';

/** Under npm, a Ctrl-C arrives twice: from the terminal, and forwarded by npm. */
const sameSignalMs = 1000;

/** Resolves when this process is asked to stop. A second signal exits at once with code 130. */
export function waitForStop(): Promise<StopReason> {
  return new Promise((resolve) => {
    let askedAt: number | null = null;
    const stop = (reason: StopReason) => {
      const isRepeated = askedAt !== null && performance.now() - askedAt > sameSignalMs;
      if (isRepeated && reason === 'signal') process.exit(130);
      askedAt ??= performance.now();
      resolve(reason);
    };
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => stop('signal'));
    if (process.connected) process.on('disconnect', () => stop('parent gone'));
    if (process.env['npm_lifecycle_event'] !== undefined) watchParent(() => stop('parent gone'));
  });
}

/** Notices the end of npm, which does not forward SIGTERM: this process then gets another parent. */
function watchParent(onGone: () => void): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    onGone();
  }, 500);
  timer.unref();
}

/** How long a running process may take to become ready. A busy machine can take minutes. A process that ends fails the start at once. */
export const startWithinMs = 10 * 60_000;

/** Waits for the work, but no longer than this. @returns whether the work finished in time */
export async function finishesWithin(work: Promise<unknown>, milliseconds: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), milliseconds);
  });
  try {
    return await Promise.race([work.then(() => true), timeout]);
  } finally {
    clearTimeout(timer);
  }
}

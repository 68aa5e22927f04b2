/** When a process ends: asked to by a signal, or because the process that started it is gone. */

export type StopReason = 'signal' | 'parent gone';

/** Ctrl-C under npm comes twice: from the terminal, and passed on by npm. */
const sameSignalMs = 1000;

/** Resolves when this process is asked to end. Asked once more, it ends at once, with exit code 130. */
export function waitForStop(): Promise<StopReason> {
  return new Promise((resolve) => {
    let askedAt: number | null = null;
    const stop = (reason: StopReason) => {
      const isInsisting = askedAt !== null && performance.now() - askedAt > sameSignalMs;
      if (isInsisting && reason === 'signal') process.exit(130);
      askedAt ??= performance.now();
      resolve(reason);
    };
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => stop('signal'));
    if (process.connected) process.on('disconnect', () => stop('parent gone'));
    if (process.env['npm_lifecycle_event'] !== undefined) watchParent(() => stop('parent gone'));
  });
}

/** npm does not pass SIGTERM on: its end shows in that this process gets another parent. */
function watchParent(onGone: () => void): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    onGone();
  }, 500);
  timer.unref();
}

/** Waits for `work`, at most so long; answers whether it was done in time. */
export async function isDoneWithin(work: Promise<unknown>, milliseconds: number): Promise<boolean> {
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

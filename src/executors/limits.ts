import { executionReasons } from '#domain/runs/model.ts';
import type { AttemptControl } from './attempt-control.ts';
import type { AttemptProcesses } from './attempt-processes.ts';
import type { WireRequest } from './messages.ts';
import { measureDirectory } from './work-files.ts';

const processesEveryMs = 250;
const directoryEveryMs = 1_000;
/** A big tree is walked less often: looking takes at most so much of the time. */
const lookingShare = 0.2;

/** Stops an attempt that passes its wall time, its number of processes or its directory's size. Answers how to end watching. */
export function watchLimits(
  { timeoutMs, limits }: Pick<WireRequest, 'timeoutMs' | 'limits'>,
  directory: string,
  processes: AttemptProcesses,
  control: AttemptControl,
): () => void {
  const time = setTimeout(() => {
    const message = `${executionReasons.time_limit}: ${timeoutMs} ms`;
    control.stop({ outcome: 'timed_out', reason: 'time_limit', message, urgency: 'grace' });
  }, timeoutMs);
  const counting = setInterval(() => {
    const count = processes.count();
    if (count <= limits.processes) return;
    const message = `${executionReasons.process_limit}: ${count} of ${limits.processes}`;
    control.stop({ outcome: 'limit_exceeded', reason: 'process_limit', message, urgency: 'now' });
  }, processesEveryMs);
  const endMeasuring = watchDirectory(directory, limits.directoryBytes, control);
  return () => {
    clearTimeout(time);
    clearInterval(counting);
    endMeasuring();
  };
}

function watchDirectory(directory: string, limit: number, control: AttemptControl): () => void {
  let timer: NodeJS.Timeout;
  const measure = async () => {
    const started = Date.now();
    const bytes = await measureDirectory(directory);
    if (bytes > limit) {
      const message = `${executionReasons.directory_limit}: ${Number.isFinite(bytes) ? bytes : 'too deep to tell'} of ${limit} bytes`;
      // Once asked to stop, it must also stop filling the disk.
      const urgency = bytes > limit * 2 ? 'now' : 'short';
      control.stop({ outcome: 'limit_exceeded', reason: 'directory_limit', message, urgency });
    }
    schedule(Math.max(directoryEveryMs, (Date.now() - started) / lookingShare));
  };
  let isOver = false;
  const schedule = (delay: number) => {
    if (!isOver) timer = setTimeout(() => void measure(), delay);
  };
  schedule(directoryEveryMs);
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}

import type { AttemptControl } from './attempt-control.ts';
import type { AttemptProcesses } from './attempt-processes.ts';
import { executionReasons, type WireRequest } from './protocol.ts';
import { measureDirectory } from './work-files.ts';

const processesEveryMs = 250;
const directoryEveryMs = 1_000;

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
  const measuring = watchDirectory(directory, limits.directoryBytes, control);
  return () => {
    clearTimeout(time);
    clearInterval(counting);
    clearInterval(measuring);
  };
}

function watchDirectory(directory: string, limit: number, control: AttemptControl): NodeJS.Timeout {
  let isMeasuring = false;
  const measure = async () => {
    if (isMeasuring) return;
    isMeasuring = true;
    const bytes = await measureDirectory(directory);
    isMeasuring = false;
    if (bytes <= limit) return;
    const message = `${executionReasons.directory_limit}: ${bytes} of ${limit} bytes`;
    // Once asked to stop, it must also stop filling the disk.
    const urgency = bytes > limit * 2 ? 'now' : 'short';
    control.stop({ outcome: 'limit_exceeded', reason: 'directory_limit', message, urgency });
  };
  return setInterval(() => void measure(), directoryEveryMs);
}

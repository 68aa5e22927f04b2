import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const sampleEveryMs = 20;

/** Measures the peak resident memory (MiB) of a process while the work runs. */
export async function measurePeakMemory(pid: number, work: () => Promise<unknown>): Promise<number> {
  let peak = 0;
  let isDone = false;
  const watching = (async () => {
    while (!isDone) {
      peak = Math.max(peak, residentMebibytes(pid));
      await sleep(sampleEveryMs);
    }
  })();
  try {
    await work();
  } finally {
    isDone = true;
    await watching;
  }
  return peak;
}

function residentMebibytes(pid: number): number {
  const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kibibytes) / 1024;
}

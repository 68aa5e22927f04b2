import { readFileSync } from 'node:fs';

/** What `/proc` of Linux contains about a process. */
export interface ProcessEntry {
  readonly state: string;
  readonly parent: number;
  /** In clock ticks since boot. */
  readonly started: string;
}

/** Returns null if the process does not exist, or the system is not Linux. */
export function readProcess(pid: number): ProcessEntry | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The fields follow the name, which may contain spaces and parentheses.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0] ?? '', parent: Number(fields[1]), started: fields[19] ?? '' };
  } catch {
    return null;
  }
}

/**
 * Returns a process's start time in clock ticks; null if it does not run. Id and start time together identify a process, since ids are
 * reused.
 */
export function readStart(pid: number): string | null {
  const entry = readProcess(pid);
  return entry === null || entry.state === 'Z' ? null : entry.started;
}

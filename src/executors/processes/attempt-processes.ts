import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf } from '../attempt/attempt-error.ts';
import type { JobGroup } from '../groups/job-group.ts';
import { type AttemptMark, findAttemptProcesses, type KnownProcesses } from './process-table.ts';

const firstPauseMs = 5;
const longestPauseMs = 100;
const patienceMs = 15_000;

/** The processes of an attempt that runs without a sandbox: counts them, and ends them whatever they did to be forgotten. */
export class AttemptProcesses {
  readonly #mark: AttemptMark;
  readonly #group: JobGroup | null;
  #known: KnownProcesses = new Map();

  /** @param group holds all of them, where the attempt has one: nothing leaves a control group */
  constructor(mark: AttemptMark, group: JobGroup | null = null) {
    this.#mark = mark;
    this.#group = group;
  }

  /** Those that live. Looking often also remembers those that will lose their parents later. */
  list(): number[] {
    this.#known = findAttemptProcesses(this.#mark, this.#known);
    return [...new Set([...this.#known.keys(), ...(this.#group?.listProcesses() ?? [])])];
  }

  /** Kills until nothing is left. False where something still lives after all patience. */
  async killAll(): Promise<boolean> {
    const deadline = Date.now() + patienceMs;
    for (let pause = firstPauseMs; Date.now() < deadline; pause = Math.min(pause * 2, longestPauseMs)) {
      const living = this.list();
      if (living.length === 0) return true;
      for (const pid of living) killQuietly(pid);
      await sleep(pause);
    }
    return false;
  }
}

/** A process of another identity cannot be signalled: a set-user-id program is on its own. */
function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (codeOf(error) !== 'ESRCH' && codeOf(error) !== 'EPERM') throw error;
  }
}

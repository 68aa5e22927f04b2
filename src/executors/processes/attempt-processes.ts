import { setTimeout as sleep } from 'node:timers/promises';
import type { JobGroup } from '../groups/job-group.ts';
import { codeOf } from '../shared/errors.ts';
import { type AttemptMark, findAttemptProcesses, type KnownProcesses } from './process-table.ts';

const firstPauseMs = 5;
const maxPauseMs = 100;
const timeoutMs = 15_000;

/** The processes of an attempt that runs without a sandbox. Counts them and kills them, even those that tried to detach. */
export class AttemptProcesses {
  readonly #mark: AttemptMark;
  readonly #group: JobGroup | null;
  #known: KnownProcesses = new Map();

  /** @param group the attempt's control group, if it has one; a process cannot leave it */
  constructor(mark: AttemptMark, group: JobGroup | null = null) {
    this.#mark = mark;
    this.#group = group;
  }

  /** Lists the living processes. Each call remembers them, so that they are still known once they lose their parents. */
  list(): number[] {
    this.#known = findAttemptProcesses(this.#mark, this.#known);
    return [...new Set([...this.#known.keys(), ...(this.#group?.listProcesses() ?? [])])];
  }

  /** Kills processes until none is left. Resolves to false if one still lives at the deadline. */
  async killAll(): Promise<boolean> {
    const deadline = Date.now() + timeoutMs;
    for (let pause = firstPauseMs; Date.now() < deadline; pause = Math.min(pause * 2, maxPauseMs)) {
      const living = this.list();
      if (living.length === 0) return true;
      for (const pid of living) killQuietly(pid);
      await sleep(pause);
    }
    return false;
  }
}

/** Tolerates a process that has ended, and one of another user, such as a set-user-id program. */
function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (codeOf(error) !== 'ESRCH' && codeOf(error) !== 'EPERM') throw error;
  }
}

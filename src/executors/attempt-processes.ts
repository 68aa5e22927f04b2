import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf } from './attempt-error.ts';
import { type AttemptMark, findAttemptProcesses, type KnownProcesses } from './process-table.ts';

const firstPauseMs = 5;
const longestPauseMs = 100;
const patienceMs = 15_000;

/** All processes of one attempt: counts them, and ends them whatever they did to be forgotten. */
export class AttemptProcesses {
  readonly #mark: AttemptMark;
  /** Leaders of the groups that were started here. */
  readonly #groups = new Set<number>();
  #known: KnownProcesses = new Map();

  constructor(mark: AttemptMark) {
    this.#mark = mark;
  }

  addGroup(leader: number): void {
    this.#groups.add(leader);
  }

  /** A leader has ended. Its group stays known while it has members: its number cannot be used again before. */
  dropGroupIfEmpty(leader: number): void {
    if (!signalQuietly(-leader, 0)) this.#groups.delete(leader);
  }

  /** How many there are. Looking often also remembers those that will lose their parents later. */
  count(): number {
    this.#known = findAttemptProcesses(this.#mark, this.#known);
    return this.#known.size;
  }

  /** Asks the groups to stop. */
  interrupt(): void {
    for (const leader of this.#groups) signalQuietly(-leader, 'SIGINT');
  }

  /** Kills until nothing is left. False where something still lives after all patience. */
  async killAll(): Promise<boolean> {
    const deadline = Date.now() + patienceMs;
    for (let pause = firstPauseMs; Date.now() < deadline; pause = Math.min(pause * 2, longestPauseMs)) {
      this.#killTogether();
      if (this.count() === 0) return true;
      for (const pid of this.#known.keys()) signalQuietly(pid, 'SIGKILL');
      await sleep(pause);
    }
    return false;
  }

  /** Those that can be reached without being looked for. */
  #killTogether(): void {
    const { isolatedUid } = this.#mark;
    if (isolatedUid !== null && isSoleUserOf(isolatedUid)) signalEverybodyElse();
    else for (const leader of this.#groups) signalQuietly(-leader, 'SIGKILL');
  }
}

/** Whether "all processes that I may signal" means those of this attempt, and cannot mean anybody else's. */
function isSoleUserOf(uid: number): boolean {
  return uid > 0 && process.getuid?.() === uid && process.geteuid?.() === uid;
}

/** One system call reaches every process of this identity, and none can fork past it. It spares the caller. */
function signalEverybodyElse(): void {
  signalQuietly(-1, 'SIGKILL');
}

/** Whether somebody was there. A process of another identity cannot be signalled: a set-user-id program is on its own. */
function signalQuietly(pid: number, signal: 'SIGINT' | 'SIGKILL' | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

import { findChanges, type PathChange } from './changes.ts';
import type { Leaves } from './leaves.ts';

/** A run that changed an instance, in the order in which the runs were deployed. */
export interface DeployedRun {
  readonly id: string;
  readonly leaves: Leaves;
  /** The run that it undid. */
  readonly undoes: string | null;
}

/** A deployed run with its change. */
export interface HistoryEntry {
  readonly run: DeployedRun;
  readonly changes: readonly PathChange[];
}

const nothing: Leaves = new Map();

/**
 * What the runs of an instance changed, and which run each path has its present value from. A run that undoes another gives its
 * paths back to whoever wrote them before, so undone changes do not stand in the way of undoing earlier ones.
 */
export class History {
  readonly #entries: readonly HistoryEntry[];
  readonly #byRun: ReadonlyMap<string, HistoryEntry>;
  /** By run: who wrote its paths before it. */
  readonly #writersBefore = new Map<string, ReadonlyMap<string, string>>();
  /** By path: the last run that wrote it. */
  readonly #writers: ReadonlyMap<string, string>;

  constructor(runs: readonly DeployedRun[]) {
    let leaves = nothing;
    const writers = new Map<string, string>();
    this.#entries = runs.map((run) => {
      const changes = findChanges(leaves, run.leaves);
      leaves = run.leaves;
      this.#writersBefore.set(run.id, writersOf(changes, writers));
      for (const { path } of changes) writers.set(path, run.id);
      return { run, changes };
    });
    this.#byRun = new Map(this.#entries.map((entry) => [entry.run.id, entry]));
    this.#writers = writers;
  }

  /** Null: the run did not deploy this instance. */
  find(runId: string): HistoryEntry | null {
    return this.#byRun.get(runId) ?? null;
  }

  /** What the instance is deployed from now. */
  current(): Leaves {
    return this.#entries.at(-1)?.run.leaves ?? nothing;
  }

  /** The last run that wrote a path; null if none did. */
  writerOf(path: string): string | null {
    return this.#writers.get(path) ?? null;
  }

  /** Whether a path still has the value that a run gave it. A value that the undo of a later change restored counts as well. */
  isStillOf(runId: string, path: string): boolean {
    let writer = this.#writers.get(path);
    while (writer !== undefined && writer !== runId) {
      const undone = this.find(writer)?.run.undoes;
      writer = undone ? this.#writersBefore.get(undone)?.get(path) : undefined;
    }
    return writer === runId;
  }
}

function writersOf(changes: readonly PathChange[], writers: ReadonlyMap<string, string>): Map<string, string> {
  const before = new Map<string, string>();
  for (const { path } of changes) {
    const writer = writers.get(path);
    if (writer !== undefined) before.set(path, writer);
  }
  return before;
}

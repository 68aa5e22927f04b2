import { findChanges, type PathChange } from './changes.ts';
import { type Leaves, namesOf } from './leaves.ts';

/** A run that changed an instance, in the order in which the runs were deployed. */
export interface DeployedRun {
  readonly id: string;
  readonly leaves: Leaves;
  /** The run that it undid. */
  readonly undoes: string | null;
  /** The variables that its environment or a variable set gave it. Absent: none. */
  readonly given?: ReadonlySet<string>;
}

/** A deployed run with its change. */
export interface HistoryEntry {
  readonly run: DeployedRun;
  /** The changes that undoing the run reverses. */
  readonly changes: readonly PathChange[];
  /**
   * The differences that an environment or a variable set made, which provided the value both before and after the run. Undoing the run
   * keeps them.
   */
  readonly kept: readonly PathChange[];
}

const nothing: Leaves = new Map();

/**
 * What the runs of an instance changed, and which run set the present value of each path. A run that undoes another restores the previous
 * writers of its paths, so undone changes do not prevent undoing earlier ones.
 */
export class History {
  readonly #entries: readonly HistoryEntry[];
  readonly #byRun: ReadonlyMap<string, HistoryEntry>;
  readonly #places: ReadonlyMap<string, number>;
  /** For each run, the previous writers of its paths. */
  readonly #writersBefore = new Map<string, ReadonlyMap<string, string>>();
  /** For each path, the last run that wrote it. */
  readonly #writers: ReadonlyMap<string, string>;

  constructor(runs: readonly DeployedRun[]) {
    let before: Pick<DeployedRun, 'leaves' | 'given'> = { leaves: nothing };
    const writers = new Map<string, string>();
    this.#entries = runs.map((run) => {
      const all = findChanges(before.leaves, run.leaves);
      const { given } = before;
      const isKept = ({ path }: PathChange) => isGiven(path, given) && isGiven(path, run.given);
      const changes = all.filter((change) => !isKept(change));
      const kept = all.filter(isKept);
      before = run;
      this.#writersBefore.set(run.id, writersOf(changes, writers));
      for (const { path } of changes) writers.set(path, run.id);
      for (const { path } of kept) if (!writers.has(path)) writers.set(path, run.id);
      return { run, changes, kept };
    });
    this.#byRun = new Map(this.#entries.map((entry) => [entry.run.id, entry]));
    this.#places = new Map(runs.map(({ id }, place) => [id, place]));
    this.#writers = writers;
  }

  /** Finds the entry of a run; null if the run did not deploy this instance. */
  find(runId: string): HistoryEntry | null {
    return this.#byRun.get(runId) ?? null;
  }

  /** The inputs with which the instance is deployed now. */
  current(): Leaves {
    return this.#entries.at(-1)?.run.leaves ?? nothing;
  }

  /**
   * The run to undo first, so that a path gets back the value that an earlier run set; null if no run wrote the path. An undo is skipped if
   * it restored the value of a run that is later than the earlier one: undoing the undo would only repeat the change that it reversed.
   */
  writerAfter(runId: string, path: string): string | null {
    let writer = this.#writers.get(path) ?? null;
    for (;;) {
      const before = writer && this.#giverOf(writer, path);
      if (!before || this.#placeOf(before) <= this.#placeOf(runId)) return writer;
      writer = before;
    }
  }

  /** The run whose value of a path an undo restored; undefined if the run is not an undo. */
  #giverOf(runId: string, path: string): string | undefined {
    const undone = this.find(runId)?.run.undoes;
    return undone ? this.#writersBefore.get(undone)?.get(path) : undefined;
  }

  #placeOf(runId: string): number {
    return this.#places.get(runId) ?? -1;
  }

  /** Whether a path still has the value that a run set. A value that the undo of a later change restored counts as well. */
  isStillOf(runId: string, path: string): boolean {
    let writer = this.#writers.get(path);
    while (writer !== undefined && writer !== runId) {
      writer = this.#giverOf(writer, path);
    }
    return writer === runId;
  }
}

function isGiven(path: string, given: ReadonlySet<string> | undefined): boolean {
  const [kind, name] = namesOf(path);
  return kind === 'variables' && name !== undefined && (given?.has(name) ?? false);
}

function writersOf(changes: readonly PathChange[], writers: ReadonlyMap<string, string>): Map<string, string> {
  const before = new Map<string, string>();
  for (const { path } of changes) {
    const writer = writers.get(path);
    if (writer !== undefined) before.set(path, writer);
  }
  return before;
}

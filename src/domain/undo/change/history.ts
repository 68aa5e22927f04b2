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
  /** What undoing the run takes back. */
  readonly changes: readonly PathChange[];
  /** What differs only because the environment or a variable set, which gave the value before and after the run, has changed it. */
  readonly kept: readonly PathChange[];
}

const nothing: Leaves = new Map();

/**
 * What the runs of an instance changed, and which run each path has its present value from. A run that undoes another gives its
 * paths back to whoever wrote them before, so undone changes do not stand in the way of undoing earlier ones.
 */
export class History {
  readonly #entries: readonly HistoryEntry[];
  readonly #byRun: ReadonlyMap<string, HistoryEntry>;
  readonly #places: ReadonlyMap<string, number>;
  /** By run: who wrote its paths before it. */
  readonly #writersBefore = new Map<string, ReadonlyMap<string, string>>();
  /** By path: the last run that wrote it. */
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

  /** Null: the run did not deploy this instance. */
  find(runId: string): HistoryEntry | null {
    return this.#byRun.get(runId) ?? null;
  }

  /** What the instance is deployed from now. */
  current(): Leaves {
    return this.#entries.at(-1)?.run.leaves ?? nothing;
  }

  /**
   * The run to undo first so that a path can have the value again that an earlier run gave it; null if none wrote the path. An undo is not that run as
   * long as it gave the path back to a run that is later than the earlier one: undoing the undo would only repeat what it has taken back.
   */
  writerAfter(runId: string, path: string): string | null {
    let writer = this.#writers.get(path) ?? null;
    for (;;) {
      const before = writer && this.#giverOf(writer, path);
      if (!before || this.#placeOf(before) <= this.#placeOf(runId)) return writer;
      writer = before;
    }
  }

  /** Who wrote a path before what an undo has undone; undefined if the run is no undo. */
  #giverOf(runId: string, path: string): string | undefined {
    const undone = this.find(runId)?.run.undoes;
    return undone ? this.#writersBefore.get(undone)?.get(path) : undefined;
  }

  #placeOf(runId: string): number {
    return this.#places.get(runId) ?? -1;
  }

  /** Whether a path still has the value that a run gave it. A value that the undo of a later change restored counts as well. */
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

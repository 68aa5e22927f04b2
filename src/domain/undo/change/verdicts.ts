import { type PathChange, takeBack } from './changes.ts';
import type { History, HistoryEntry } from './history.ts';
import { type Leaves, liesIn, parentOf } from './leaves.ts';

/** Whether a run's change of one path can be undone, or what prevents it. */
export type PathVerdict =
  | { readonly path: string; readonly verdict: 'clean' }
  /** A later run changed the path, or the object that contains it. */
  | { readonly path: string; readonly verdict: 'superseded'; readonly byRun: string }
  /** A later run put members into an object that the run had created. */
  | { readonly path: string; readonly verdict: 'depended_on'; readonly byRun: string; readonly dependent: string }
  /**
   * No run can undo it: a run gets its environment variables from the environment, and without the instance's first version there would be
   * nothing to deploy.
   */
  | { readonly path: string; readonly verdict: 'irreversible' };

/** The maximum number of leaves that are examined to judge the later runs that prevent an undo. */
const maxLeavesJudged = 2_000_000;

/**
 * Returns whether a run of the history can be undone, perhaps after later runs that can be, as far as their inputs tell. Each run is judged
 * only once. After the limit of examined leaves, it returns null: not known.
 */
export function judgeUndoable(history: History): (runId: string) => boolean | null {
  const known = new Map<string, boolean | null>();
  let left = maxLeavesJudged;
  const isUndoable = (runId: string): boolean | null => {
    const judged = known.get(runId);
    if (judged !== undefined) return judged;
    // A run that is reached again while it is judged depends on itself, so it cannot be undone.
    known.set(runId, false);
    const entry = history.find(runId);
    left -= history.current().size + (entry?.changes.length ?? 0);
    const found = left < 0 ? null : entry !== null && allClear(judgeChanges(history, entry), isUndoable);
    known.set(runId, found);
    return found;
  };
  return isUndoable;
}

type IsUndoable = (runId: string) => boolean | null;

function allClear(verdicts: readonly PathVerdict[], isUndoable: IsUndoable): boolean | null {
  const clear = verdicts.map((verdict) => isClear(verdict, isUndoable));
  return clear.includes(false) ? false : clear.includes(null) ? null : true;
}

function isClear(verdict: PathVerdict, isUndoable: IsUndoable): boolean | null {
  if (verdict.verdict === 'clean') return true;
  return verdict.verdict === 'irreversible' ? false : isUndoable(verdict.byRun);
}

/** Judges each path that a run changed. The order is that of the paths. */
export function judgeChanges(history: History, { run, changes }: HistoryEntry): PathVerdict[] {
  const candidate = takeBack(history.current(), changes);
  const dependents = firstBelow(candidate);
  return changes.map((change) => judge(history, run.id, change, { candidate, dependents }));
}

/** For each path of an object, the first leaf inside it. It examines each leaf only once. */
function firstBelow(leaves: Leaves): ReadonlyMap<string, string> {
  const first = new Map<string, string>();
  for (const leaf of leaves.keys()) {
    let above = parentOf(leaf);
    // If an object already has a first leaf, the objects around it have one too.
    while (above !== null && !first.has(above)) {
      first.set(above, leaf);
      above = parentOf(above);
    }
  }
  return first;
}

/** The present inputs without the run's change; null if one of its verdicts from `judgeChanges` is not clean. */
export function findCandidate(
  history: History,
  entry: HistoryEntry,
  verdicts: readonly Pick<PathVerdict, 'verdict'>[],
): Leaves | null {
  const isClean = verdicts.every(({ verdict }) => verdict === 'clean');
  return isClean ? takeBack(history.current(), entry.changes) : null;
}

function judge(
  history: History,
  runId: string,
  { path, before }: PathChange,
  { candidate, dependents }: { readonly candidate: Leaves; readonly dependents: ReadonlyMap<string, string> },
): PathVerdict {
  const isFirstVersion = path === '/version' && before === undefined;
  if (isFirstVersion || liesIn(path, '/environment')) return { path, verdict: 'irreversible' };
  if (!history.isStillOf(runId, path)) return { path, verdict: 'superseded', byRun: writerAfter(history, runId, path) };
  const parent = parentOf(path);
  if (before !== undefined && parent !== null && candidate.get(parent)?.kind !== 'object')
    return { path, verdict: 'superseded', byRun: writerAfter(history, runId, parent) };
  if (before?.kind === 'object') return { path, verdict: 'clean' };
  const dependent = dependents.get(path);
  if (dependent === undefined) return { path, verdict: 'clean' };
  return { path, verdict: 'depended_on', byRun: writerAfter(history, runId, dependent), dependent };
}

function writerAfter(history: History, runId: string, path: string): string {
  const writer = history.writerAfter(runId, path);
  if (writer === null) throw new Error(`no run of the history wrote ${path}`);
  return writer;
}

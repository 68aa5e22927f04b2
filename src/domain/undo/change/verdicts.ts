import { type PathChange, takeBack } from './changes.ts';
import type { History, HistoryEntry } from './history.ts';
import { type Leaves, liesIn, parentOf } from './leaves.ts';

/** Whether a run's change of one path can be taken back, or what is in the way. */
export type PathVerdict =
  | { readonly path: string; readonly verdict: 'clean' }
  /** A later run gave the path, or the object in which it lies, another value. */
  | { readonly path: string; readonly verdict: 'superseded'; readonly byRun: string }
  /** A later run put members into an object that the run had made. */
  | { readonly path: string; readonly verdict: 'depended_on'; readonly byRun: string; readonly dependent: string }
  /**
   * No run can take it back: a run takes its environment variables from the environment, and without the instance's first version there
   * would be nothing to deploy.
   */
  | { readonly path: string; readonly verdict: 'irreversible' };

/** Judges each path that a run changed. The order is that of the paths. */
export function judgeChanges(history: History, { run, changes }: HistoryEntry): PathVerdict[] {
  const candidate = takeBack(history.current(), changes);
  const dependents = firstBelow(candidate);
  return changes.map((change) => judge(history, run.id, change, { candidate, dependents }));
}

/** By path: the first leaf that lies in the object there. Each leaf is looked at once, however many paths are judged. */
function firstBelow(leaves: Leaves): ReadonlyMap<string, string> {
  const first = new Map<string, string>();
  for (const leaf of leaves.keys()) {
    let above = parentOf(leaf);
    // Where an object has a first leaf already, the objects around it have one, too.
    while (above !== null && !first.has(above)) {
      first.set(above, leaf);
      above = parentOf(above);
    }
  }
  return first;
}

/** The present inputs without the run's change; null if one of its verdicts, which `judgeChanges` gave, is not clean. */
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
  if (!history.isStillOf(runId, path)) return { path, verdict: 'superseded', byRun: writerOf(history, path) };
  const parent = parentOf(path);
  if (before !== undefined && parent !== null && candidate.get(parent)?.kind !== 'object')
    return { path, verdict: 'superseded', byRun: writerOf(history, parent) };
  if (before?.kind === 'object') return { path, verdict: 'clean' };
  const dependent = dependents.get(path);
  if (dependent === undefined) return { path, verdict: 'clean' };
  return { path, verdict: 'depended_on', byRun: writerOf(history, dependent), dependent };
}

function writerOf(history: History, path: string): string {
  const writer = history.writerOf(path);
  if (writer === null) throw new Error(`no run of the history wrote ${path}`);
  return writer;
}

import type { EncodedAnswerOf } from '#api/pipeline/answers/answer-types.ts';
import { titleOf } from '#api/runs/pages/run/head.ts';
import type { ShownRun } from '#api/runs/pages/run-tab.ts';
import { renderStatusBadge } from '#api/web/components/status.ts';
import type { Html } from '#api/web/html.ts';
import { pluralize } from '#api/web/text.ts';
import { cutText } from '#domain/shared/values/text.ts';
import type { AttemptState, VerdictWord } from '#domain/undo/model.ts';
import type { getAttempt, listChecks } from '../operations.ts';

/** A single attempt, as the API shows it to the visitor. */
export type ShownAttempt = EncodedAnswerOf<(typeof getAttempt)['responses']>;

/** The plans of an attempt, newest first. */
export type ShownChecks = EncodedAnswerOf<(typeof listChecks)['responses']>['candidate_checks'];

type Look = Parameters<typeof renderStatusBadge>[0];

/**
 * The state of an attempt as pages show it. `outdated`: its instance has changed since the check, so it cannot continue. `undone`: its run
 * has deployed the undo. `destroyed`: the instance was destroyed after the run.
 */
export type ShownState = AttemptState | 'outdated' | 'undone' | 'destroyed';

/** Events since the attempts to undo a run were checked. */
export interface LaterEvents {
  /** The attempts whose instance has changed since their check. */
  readonly outdated: ReadonlySet<string>;
  /** The runs that have deployed their undo. */
  readonly succeeded: ReadonlySet<string>;
  /** Whether a destroy has changed the instance after the run. */
  readonly isDestroyed: boolean;
}

/** The state of an attempt that pages show. */
export function shownState(
  { id, state, promoted_run_id: run }: Pick<ShownAttempt, 'id' | 'state' | 'promoted_run_id'>,
  { outdated, succeeded, isDestroyed }: LaterEvents,
): ShownState {
  if (run !== null && succeeded.has(run)) return 'undone';
  if (isDestroyed && state !== 'promoted') return 'destroyed';
  return outdated.has(id) ? 'outdated' : state;
}

const stateLooks: Readonly<Record<ShownState, Look>> = {
  checking: { word: 'Checking', icon: 'loader-circle', tone: 'running' },
  ready: { word: 'Can be undone', icon: 'circle-check', tone: 'succeeded' },
  conflicted: { word: 'Conflicts', icon: 'octagon-x', tone: 'failed' },
  blocked: { word: 'Blocked', icon: 'ban', tone: 'failed' },
  failed: { word: 'Check failed', icon: 'octagon-x', tone: 'failed' },
  candidate_checking: { word: 'Planning', icon: 'loader-circle', tone: 'running' },
  promotable: { word: 'Ready to confirm', icon: 'hand', tone: 'approval' },
  outdated: { word: 'Out of date', icon: 'octagon-x', tone: 'failed' },
  promoted: { word: 'Started', icon: 'circle-check', tone: 'succeeded' },
  undone: { word: 'Undone', icon: 'undo-2', tone: 'succeeded' },
  destroyed: { word: 'Destroyed since', icon: 'ban', tone: 'failed' },
};

const verdictLooks: Readonly<Record<VerdictWord, Look>> = {
  clean: { word: 'Clean', icon: 'circle-check', tone: 'succeeded' },
  kept: { word: 'Kept', icon: 'circle-check', tone: 'succeeded' },
  superseded: { word: 'Changed later', icon: 'octagon-x', tone: 'failed' },
  drifted: { word: 'Drifted', icon: 'octagon-x', tone: 'failed' },
  depended_on: { word: 'Used by others', icon: 'octagon-x', tone: 'failed' },
  irreversible: { word: 'Cannot be undone', icon: 'ban', tone: 'failed' },
  unknown: { word: 'Not known', icon: 'circle-dashed', tone: 'queued' },
};

export function renderState(state: ShownState): Html {
  return renderStatusBadge(stateLooks[state]);
}

export function wordOfState(state: ShownState): string {
  return stateLooks[state].word;
}

export function renderVerdict(verdict: VerdictWord): Html {
  return renderStatusBadge(verdictLooks[verdict]);
}

/** The labels of the buttons that continue an attempt. */
export const planLabel = 'Plan the undo';
export const promoteLabel = 'Undo this change';

/** The maximum number of characters of a message in a title. */
const maxName = 100;
const names = new Intl.ListFormat('en-GB', { type: 'conjunction' });
/** If more inputs than these changed, the title has only their number. */
const maxNamed = 3;

/**
 * The title of an undo, by what it undoes: the requester's message on the run, or the inputs that the run changed, or the operation of the
 * run if neither is known.
 */
export function titleOfUndo(run: ShownRun, attempt?: ShownAttempt): string {
  const [written = ''] = (run.message ?? '').trim().split('\n');
  if (written !== '') return `Undo: ${cutText(written, maxName)}`;
  const inputs = (attempt?.verdicts ?? []).map(({ path }) => nameOfPath(path));
  if (inputs.length === 0) return `Undo: ${titleOf(run)}`;
  const what = inputs.length > maxNamed ? pluralize(inputs.length, 'input') : names.format(inputs);
  return `Undo: ${cutText(`Change ${what} of ${run.instance}`, maxName)}`;
}

/** The name of a changed path. The version and variables have familiar names. Parts within a variable keep their path. */
export function nameOfPath(path: string): string {
  if (path === '/version') return 'version of the template';
  return path.replace(/^\/(variables|environment)\//, (_all, kind) => (kind === 'environment' ? '$' : ''));
}

import type { EncodedAnswerOf } from '#api/pipeline/answers/answer-types.ts';
import { renderStatusBadge } from '#api/web/components/status.ts';
import type { Html } from '#api/web/html.ts';
import type { AttemptState, VerdictWord } from '#domain/undo/model.ts';
import type { getAttempt } from '../operations.ts';

/** An attempt as the API shows it to the visitor where it is read alone. */
export type ShownAttempt = EncodedAnswerOf<(typeof getAttempt)['responses']>;

type Look = Parameters<typeof renderStatusBadge>[0];

const stateLooks: Readonly<Record<AttemptState, Look>> = {
  checking: { word: 'Checking', icon: 'loader-circle', tone: 'running' },
  ready: { word: 'Can be undone', icon: 'circle-check', tone: 'succeeded' },
  conflicted: { word: 'Conflicts', icon: 'octagon-x', tone: 'failed' },
  blocked: { word: 'Blocked', icon: 'ban', tone: 'failed' },
  failed: { word: 'Check failed', icon: 'octagon-x', tone: 'failed' },
  candidate_checking: { word: 'Planning', icon: 'loader-circle', tone: 'running' },
  promotable: { word: 'Planned', icon: 'hand', tone: 'approval' },
  promoted: { word: 'Promoted', icon: 'circle-check', tone: 'succeeded' },
};

const verdictLooks: Readonly<Record<VerdictWord, Look>> = {
  clean: { word: 'Clean', icon: 'circle-check', tone: 'succeeded' },
  superseded: { word: 'Changed later', icon: 'octagon-x', tone: 'failed' },
  drifted: { word: 'Drifted', icon: 'octagon-x', tone: 'failed' },
  depended_on: { word: 'Used by others', icon: 'octagon-x', tone: 'failed' },
  irreversible: { word: 'Cannot be undone', icon: 'ban', tone: 'failed' },
  unknown: { word: 'Not known', icon: 'circle-dashed', tone: 'queued' },
};

export function renderState(state: AttemptState): Html {
  return renderStatusBadge(stateLooks[state]);
}

export function wordOfState(state: AttemptState): string {
  return stateLooks[state].word;
}

export function renderVerdict(verdict: VerdictWord): Html {
  return renderStatusBadge(verdictLooks[verdict]);
}

/** What each state means, and what to do next. */
export const nextSteps: Readonly<Record<AttemptState, string>> = {
  checking: 'A scan compares the instance with its latest state. Nothing is changed.',
  ready: 'The run can be undone. Plan the undo to see which resources it affects.',
  conflicted:
    'Later runs changed what this run changed. Undo them first, or apply the values that you want in a new run.',
  blocked: 'The run cannot be undone now. Remove the cause, and check again.',
  failed: 'The check could not be done. Check again.',
  candidate_checking: 'What would be deployed is being planned. Nothing is changed.',
  promotable:
    'Review the plan and the other resources that it affects. Then promote it: a run deploys it and follows every policy.',
  promoted: 'A run deploys it. It plans again and may need approval.',
};

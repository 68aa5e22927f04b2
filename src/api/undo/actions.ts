import { type ActionContext, actionsOf } from '#api/pipeline/actions.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import type { Refusal } from '#domain/shared/actions.ts';
import { findStepRefusal } from '#domain/undo/attempts/rules.ts';
import type { AttemptDetails } from '#domain/undo/store.ts';
import { toListedAttempt } from './views.ts';

interface AttemptFacts extends Ownership {
  readonly details: AttemptDetails;
  /** What is in the way, whatever the step. */
  readonly obstacle: Refusal | null;
}

const actions = actionsOf<AttemptFacts>()({
  check_candidate: {
    operation: 'selective_undo.check_candidate',
    findRefusal: ({ details, obstacle }) => findStepRefusal('check_candidate', details.state) ?? obstacle,
  },
  promote: {
    operation: 'selective_undo.promote',
    findRefusal: ({ details, obstacle }) => findStepRefusal('promote', details.state) ?? obstacle,
  },
});

/** Shows one attempt with what the caller may do with it. */
export function showAttempt(context: ActionContext, facts: AttemptFacts) {
  return { ...toListedAttempt(facts.details), actions: actions.describe(context, facts) };
}

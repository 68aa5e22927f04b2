import { type ActionContext, actionsOf } from '#api/pipeline/actions.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import { findStaleRefusal, findStepRefusal } from '#domain/undo/attempts/rules.ts';
import type { AttemptDetails } from '#domain/undo/store.ts';
import { toListedAttempt } from './views.ts';

interface AttemptFacts extends Ownership {
  readonly details: AttemptDetails;
}

const actions = actionsOf<AttemptFacts>()({
  check_candidate: {
    operation: 'selective_undo.check_candidate',
    findRefusal: ({ details }) => findStepRefusal('check_candidate', details.state) ?? findStale(details),
  },
  promote: {
    operation: 'selective_undo.promote',
    findRefusal: ({ details }) => findStepRefusal('promote', details.state) ?? findStale(details),
  },
});

function findStale(details: AttemptDetails) {
  const now = { stateSerial: details.stateSerialNow, deployedRunId: details.deployedRunIdNow };
  return findStaleRefusal(details, now);
}

/** Shows one attempt with what the caller may do with it. */
export function showAttempt(context: ActionContext, owner: Ownership, details: AttemptDetails) {
  return { ...toListedAttempt(details), actions: actions.describe(context, { ...owner, details }) };
}

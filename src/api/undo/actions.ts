import { actionsOf } from '#api/pipeline/actions.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import type { Refusal } from '#domain/shared/actions.ts';
import { findStepRefusal } from '#domain/undo/attempts/rules.ts';
import type { AttemptDetails } from '#domain/undo/store.ts';

interface AttemptFacts extends Ownership {
  readonly details: AttemptDetails;
  /** The obstacle that keeps every step of the attempt from happening. */
  readonly obstacle: Refusal | null;
}

/** What a caller may do with an attempt. */
export const attemptActions = actionsOf<AttemptFacts>()({
  check_candidate: {
    operation: 'selective_undo.check_candidate',
    findRefusal: ({ details, obstacle }) => findStepRefusal('check_candidate', details.state) ?? obstacle,
  },
  promote: {
    operation: 'selective_undo.promote',
    findRefusal: ({ details, obstacle }) => findStepRefusal('promote', details.state) ?? obstacle,
  },
});

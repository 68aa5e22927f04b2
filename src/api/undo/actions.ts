import { actionsOf } from '#api/pipeline/actions.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import type { Refusal } from '#domain/shared/actions.ts';
import { type Destruction, findStepRefusal } from '#domain/undo/attempts/rules.ts';
import type { AttemptDetails } from '#domain/undo/store.ts';

interface AttemptFacts extends Ownership {
  readonly details: AttemptDetails;
  /** The destroy that ended all attempts to undo its run. */
  readonly destruction: Destruction | undefined;
  /** The obstacle that prevents every step of the attempt. */
  readonly obstacle: Refusal | null;
}

/** What a caller may do with an attempt. */
export const attemptActions = actionsOf<AttemptFacts>()({
  check_candidate: {
    operation: 'selective_undo.check_candidate',
    findRefusal: ({ details, destruction, obstacle }) =>
      findStepRefusal('check_candidate', details.state, destruction) ?? obstacle,
  },
  promote: {
    operation: 'selective_undo.promote',
    findRefusal: ({ details, destruction, obstacle }) =>
      findStepRefusal('promote', details.state, destruction) ?? obstacle,
  },
});

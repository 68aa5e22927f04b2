import type { DeclaredAction } from '#domain/shared/commands/declared-action.ts';
import type { EventSubscription } from '#domain/shared/events/event-type.ts';
import type { Feature } from '#domain/shared/features/feature.ts';
import { CandidateCheckSchema, UndoAttemptSchema } from './entity.ts';
import { undoEvents } from './events.ts';
import { isRunOfAttempt } from './interest-store.ts';
import { undoKinds } from './ownership.ts';

export const entities = [UndoAttemptSchema, CandidateCheckSchema] as const;
export const ownership = undoKinds;
export const events = undoEvents;

export const features = {
  selective_undo: {
    title: 'Selective undo',
    operations: ['selective_undo', 'runs.list_selective_undo', 'runs.check_selective_undo'],
  },
} as const satisfies Record<string, Feature>;

export const subscriptions = [
  // Follows the end of scans, of candidate checks and of the runs that undo others.
  { subscriber: 'selective-undo', types: ['run.finished'], concerns: { 'run.finished': isRunOfAttempt } },
] as const satisfies readonly EventSubscription[];

export const systemActions = {
  'run.undone': {
    summary: 'Note that a run has taken back what another one changed',
    resourceType: 'runs',
    actor: 'selective undo',
  },
  'selective_undo.candidate_checked': {
    summary: 'Record which resources the plan of a candidate touches and the undone run did not',
    resourceType: 'selective_undo',
    actor: 'selective undo',
  },
  'selective_undo.checked': {
    summary: 'Record whether the instance was as its state says when the undo of a run was checked',
    resourceType: 'selective_undo',
    actor: 'selective undo',
  },
} as const satisfies Record<string, DeclaredAction>;

export const errorCodes = {
  run_not_undoable: 'The run has changed nothing, it is undone already, it was a destroy, or a destroy came after it.',
  undo_check_running: 'Several checks of undoing runs of the instance have not ended.',
  undo_not_ready:
    'The attempt at undoing a run does not allow this step: its state is another one, or a lasting problem is in the way.',
  stale: 'The instance, or what would be deployed, is no longer as it was when it was checked.',
  collateral_not_accepted:
    'The request does not name exactly the resources that the candidate touches and the undone run did not.',
} as const;

import type { Logger } from 'pino';
import type { Orm } from '#database/database.ts';
import { handleDriftEvent } from '#domain/drift/follow-events.ts';
import type { eventSubscriptions } from '#domain/event-subscriptions.ts';
import { handleUpstreamEvent } from '#domain/following/follow-event.ts';
import { wakeHeldRuns } from '#domain/holds/waking.ts';
import type { SystemCommandDeps } from '#domain/shared/commands/system-command.ts';
import type { Evaluator } from '#domain/shared/evaluation/evaluator.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { continueUndoAfterRun } from '#domain/undo/attempts/finished-run.ts';
import type { EventHandler } from '#engine/event-delivery.ts';

/** The dependencies of handlers. A handler reads with `orm`, and writes with `runSystemCommand`. */
export interface EventHandlerDeps extends SystemCommandDeps {
  readonly orm: Orm;
  readonly log: Logger;
  readonly keyRing: KeyRing;
  readonly evaluator: Evaluator;
}

export type EventHandlers = Readonly<Record<(typeof eventSubscriptions)[number]['subscriber'], EventHandler>>;

/** Creates the handler of every subscriber that areas declare. */
export function createEventHandlers(deps: EventHandlerDeps): EventHandlers {
  return {
    'held-runs': (event) => wakeHeldRuns(deps.transactions, event),
    'selective-undo': (event) => continueUndoAfterRun(deps, event),
    drift: (event) => handleDriftEvent(deps, event),
    following: (event) => handleUpstreamEvent(deps, event),
  };
}

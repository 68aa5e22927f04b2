import { scheduledWorks } from '#domain/scheduled-work-kinds.ts';
import type { DeliverDeps } from '#domain/webhooks/deliveries/deliver-queue.ts';
import { DatabaseMaintenance } from '#engine/database-maintenance.ts';
import { openEngineSweeper } from '#engine/engine-sweeper.ts';
import { EventDelivery } from '#engine/event-delivery.ts';
import { type AuditSealingDeps, openAuditSealing } from './audit-sealing.ts';
import { openCheckUpkeep } from './check-upkeep.ts';
import { openDebugLogRetention } from './debug-log-retention.ts';
import { type DriftRetentionDeps, openDriftRetention } from './drift-retention.ts';
import { openDriftUpkeep } from './drift-upkeep.ts';
import { createEventHandlers, type EventHandlerDeps } from './event-handlers.ts';
import { type ExpiryTaskDeps, openExpiry } from './expiry.ts';
import { MessageSender, openMessageRetention } from './message-sending.ts';
import { type MissedTimesDeps, openMissedTimes } from './missed-times.ts';
import { type NotifyingDeps, openNotificationUpkeep, openNotifying } from './notifying.ts';
import { openReconciler, type ReconcilerDeps } from './reconciler.ts';
import { openResourceListRepair, type ResourceListRepairDeps } from './resource-list-repair.ts';
import { openScheduleRepair, type ScheduleRepairDeps } from './schedule-repair.ts';
import { openSigningKeyUpkeep, type SigningKeyUpkeepDeps } from './signing-key-upkeep.ts';
import {
  openAuditStream,
  openBacklogLimit,
  openDeliveryRetention,
  openWebhookFanOut,
  WebhookSender,
} from './webhook-sending.ts';
import { openWorkerSupervision } from './worker-supervision.ts';

export interface BackgroundTaskDeps
  extends ReconcilerDeps,
    ExpiryTaskDeps,
    EventHandlerDeps,
    ResourceListRepairDeps,
    AuditSealingDeps,
    ScheduleRepairDeps,
    SigningKeyUpkeepDeps,
    MissedTimesDeps,
    DriftRetentionDeps,
    NotifyingDeps,
    DeliverDeps {
  readonly auditRetentionDays: number | null;
  /** The origin of links in messages; null if nobody has configured it. */
  readonly linkOrigin: string | null;
}

/** Starts the background tasks of a worker. Every worker runs all of them, and several at once do no harm. */
export function startBackgroundTasks(deps: BackgroundTaskDeps): { stop(): Promise<void> } {
  const delivering = [
    openEngineSweeper({ ...deps, client: deps.engine.client }),
    new EventDelivery(deps, createEventHandlers(deps)),
    new WebhookSender(deps),
    new MessageSender(deps),
  ];
  const maintenance = new DatabaseMaintenance(deps);
  const signingKeys = openSigningKeyUpkeep(deps);
  const periodic = [
    openReconciler(deps),
    openExpiry(deps),
    openWorkerSupervision(deps),
    openResourceListRepair(deps),
    openScheduleRepair(deps, scheduledWorks),
    openMissedTimes(deps),
    openDriftUpkeep(deps),
    openDriftRetention(deps),
    openAuditSealing(deps),
    openWebhookFanOut(deps),
    openAuditStream(deps),
    openBacklogLimit(deps),
    openDeliveryRetention(deps),
    openNotifying(deps),
    openNotificationUpkeep(deps),
    openMessageRetention(deps),
    openDebugLogRetention(deps),
    openCheckUpkeep(deps),
  ];
  for (const task of [...delivering, maintenance]) task.start();
  // Nothing can be signed before the first key exists.
  signingKeys.start('now');
  for (const task of periodic) task.start('later');
  return {
    stop: async () => {
      for (const task of [...delivering, ...periodic, signingKeys, maintenance]) await task.stop();
    },
  };
}

import { assemblySeals } from './assemblies/sealed.ts';
import { connectionSeals } from './connections/sealed.ts';
import { instanceSeals } from './instances/sealed.ts';
import { messageSeals } from './messages/sealed.ts';
import { notificationChannelSeals } from './notification-channels/sealed.ts';
import { notificationSeals } from './notifications/sealed.ts';
import { runSeals } from './runs/sealed.ts';
import { scheduleSeals } from './schedules/sealed.ts';
import { installationSeals } from './shared/installation/sealed.ts';
import type { SealedColumn } from './shared/sealed/sealed-column.ts';
import { variableSeals } from './variables/sealed.ts';
import { webhookSeals } from './webhooks/sealed.ts';
import { workloadIdentitySeals } from './workload-identity/sealed.ts';

/** Every column that the key ring has sealed. An area that seals one adds it to its `sealed.ts`. */
export const sealedColumns: readonly SealedColumn[] = [
  ...installationSeals,
  ...variableSeals,
  ...runSeals,
  ...instanceSeals,
  ...assemblySeals,
  ...scheduleSeals,
  ...connectionSeals,
  ...webhookSeals,
  ...notificationSeals,
  ...notificationChannelSeals,
  ...messageSeals,
  ...workloadIdentitySeals,
];

import { assemblyKinds } from './assemblies/ownership.ts';
import { auditKinds } from './audit/ownership.ts';
import { connectionKinds } from './connections/ownership.ts';
import { driftKinds } from './drift/ownership.ts';
import { environmentKinds } from './environments/ownership.ts';
import { followingKinds } from './following/ownership.ts';
import { identityKinds } from './identity/ownership.ts';
import { instanceKinds } from './instances/ownership.ts';
import { invitationKinds } from './invitations/ownership.ts';
import { memberKinds } from './members/ownership.ts';
import { messageTables } from './messages/ownership.ts';
import { notificationChannelKinds } from './notification-channels/ownership.ts';
import { notificationTables } from './notifications/ownership.ts';
import { organizationKinds } from './organizations/ownership.ts';
import { pluginKinds } from './plugins/ownership.ts';
import { projectKinds } from './projects/ownership.ts';
import { quotaTables } from './quotas/ownership.ts';
import { registryKinds } from './registry/ownership.ts';
import { runKinds } from './runs/ownership.ts';
import { scheduleKinds } from './schedules/ownership.ts';
import { serviceAccountKinds } from './service-accounts/ownership.ts';
import { sharedKinds } from './shared/ownership.ts';
import { teamKinds } from './teams/ownership.ts';
import { undoKinds } from './undo/ownership.ts';
import { variableSetKinds } from './variable-sets/ownership.ts';
import { webhookKinds } from './webhooks/ownership.ts';
import { workerKinds } from './workers/ownership.ts';

/** The declarations of all areas. Conflicts name blockers, and cascades change tables, in this order. */
export const declarations = [
  ...projectKinds,
  ...environmentKinds,
  ...identityKinds,
  ...organizationKinds,
  ...teamKinds,
  ...memberKinds,
  ...invitationKinds,
  ...instanceKinds,
  ...followingKinds,
  ...runKinds,
  ...assemblyKinds,
  ...undoKinds,
  ...driftKinds,
  ...scheduleKinds,
  ...webhookKinds,
  ...notificationTables,
  ...notificationChannelKinds,
  ...messageTables,
  ...registryKinds,
  ...serviceAccountKinds,
  ...variableSetKinds,
  ...workerKinds,
  ...connectionKinds,
  ...quotaTables,
  ...pluginKinds,
  ...auditKinds,
  ...sharedKinds,
] as const;

/** A kind that some area declares. */
export type Kind = (typeof declarations)[number]['kind'];

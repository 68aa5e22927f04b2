import type { Area } from '#api/web/declarations/area.ts';
import { area as accessReviews } from './access-reviews/area.ts';
import { area as assemblies } from './assemblies/area.ts';
import { area as audit } from './audit/area.ts';
import { area as commands } from './commands/area.ts';
import { area as connections } from './connections/area.ts';
import { area as drift } from './drift/area.ts';
import { area as environments } from './environments/area.ts';
import { area as help } from './help/area.ts';
import { area as holds } from './holds/area.ts';
import { area as home } from './home/area.ts';
import { area as identity } from './identity/area.ts';
import { area as instances } from './instances/area.ts';
import { area as invitations } from './invitations/area.ts';
import { area as members } from './members/area.ts';
import { area as notificationChannels } from './notification-channels/area.ts';
import { area as notifications } from './notifications/area.ts';
import { area as organizations } from './organizations/area.ts';
import { area as plugins } from './plugins/area.ts';
import { area as projects } from './projects/area.ts';
import { area as quotas } from './quotas/area.ts';
import { area as registry } from './registry/area.ts';
import { area as runs } from './runs/area.ts';
import { area as schedules } from './schedules/area.ts';
import { area as search } from './search/area.ts';
import { area as serviceAccounts } from './service-accounts/area.ts';
import { area as settings } from './settings/area.ts';
import { area as system } from './system/area.ts';
import { area as teamSetup } from './team-setup/area.ts';
import { area as teams } from './teams/area.ts';
import { area as undo } from './undo/area.ts';
import { area as variableSets } from './variable-sets/area.ts';
import { area as webhooks } from './webhooks/area.ts';
import { area as workers } from './workers/area.ts';
import { area as workloadIdentity } from './workload-identity/area.ts';

/**
 * The areas of the API, each once. Operations, reference and navigation show the declarations of areas in this order, unless a declaration
 * names another one that it follows.
 */
export const areas: readonly Area[] = [
  home,
  runs,
  instances,
  undo,
  registry,
  projects,
  environments,
  variableSets,
  assemblies,
  schedules,
  drift,
  connections,
  workloadIdentity,
  workers,
  holds,
  notifications,
  notificationChannels,
  webhooks,
  search,
  identity,
  accessReviews,
  organizations,
  members,
  invitations,
  teams,
  teamSetup,
  serviceAccounts,
  plugins,
  commands,
  audit,
  quotas,
  settings,
  system,
  help,
];

/**
 * The page lists of all areas: the paths of their pages, the texts of these pages after a form, and the page of each kind of resource. They
 * are separate from the declarations of areas (`areas.ts`), which have the pages themselves, because pages of all areas link to each other.
 * `src/api/web/paths.ts` and others read them.
 */
export * as assemblies from './assemblies/page-list.ts';
export * as audit from './audit/page-list.ts';
export * as connections from './connections/page-list.ts';
export * as drift from './drift/page-list.ts';
export * as environments from './environments/page-list.ts';
export * as help from './help/page-list.ts';
export * as holds from './holds/page-list.ts';
export * as home from './home/page-list.ts';
export * as identity from './identity/page-list.ts';
export * as instances from './instances/page-list.ts';
export * as invitations from './invitations/page-list.ts';
export * as members from './members/page-list.ts';
export * as notificationChannels from './notification-channels/page-list.ts';
export * as notifications from './notifications/page-list.ts';
export * as organizations from './organizations/page-list.ts';
export * as plugins from './plugins/page-list.ts';
export * as projects from './projects/page-list.ts';
export * as quotas from './quotas/page-list.ts';
export * as registry from './registry/page-list.ts';
export * as runs from './runs/page-list.ts';
export * as schedules from './schedules/page-list.ts';
export * as search from './search/page-list.ts';
export * as serviceAccounts from './service-accounts/page-list.ts';
export * as settings from './settings/page-list.ts';
export * as teamSetup from './team-setup/page-list.ts';
export * as teams from './teams/page-list.ts';
export * as undo from './undo/page-list.ts';
export * as variableSets from './variable-sets/page-list.ts';
export * as webhooks from './webhooks/page-list.ts';
export * as workers from './workers/page-list.ts';
export * as workloadIdentity from './workload-identity/page-list.ts';

import type { Operation } from '../operation.ts';
import * as audit from './audit.ts';
import * as auth from './auth.ts';
import * as bootstrap from './bootstrap.ts';
import * as commands from './commands.ts';
import * as environmentVariables from './environment-variables.ts';
import * as environments from './environments.ts';
import * as instances from './instances.ts';
import * as invitations from './invitations.ts';
import * as organizationInvitations from './organization-invitations.ts';
import * as organizationMembers from './organization-members.ts';
import * as organizations from './organizations.ts';
import * as passwords from './passwords.ts';
import * as profile from './profile.ts';
import * as projects from './projects.ts';
import * as reviews from './reviews.ts';
import * as runApproval from './run-approval.ts';
import * as runLogs from './run-logs.ts';
import * as runs from './runs.ts';
import * as serviceAccountKeys from './service-account-keys.ts';
import * as serviceAccounts from './service-accounts.ts';
import * as system from './system.ts';
import * as teamInvitations from './team-invitations.ts';
import * as teamMembers from './team-members.ts';
import * as teams from './teams.ts';
import * as templateVersions from './template-versions.ts';
import * as templates from './templates.ts';
import * as userAdministration from './user-administration.ts';
import * as users from './users.ts';
import * as workerPools from './worker-pools.ts';
import * as workers from './workers.ts';

const areas = [
  ...[system, bootstrap, auth, reviews, profile, passwords],
  ...[runs, runApproval, runLogs, instances, templates, templateVersions],
  ...[users, userAdministration, serviceAccounts, serviceAccountKeys],
  ...[organizations, organizationMembers, teams, teamMembers],
  ...[projects, environments, environmentVariables, workers, workerPools, commands, audit],
  ...[invitations, organizationInvitations, teamInvitations],
];

/** Every operation of the service: routes, reference, catalogue and tests come from this list. */
export const operations: readonly Operation[] = areas.flatMap((area) => Object.values(area).filter(isOperation));

function isOperation(value: unknown): value is Operation {
  return typeof value === 'object' && value !== null && 'route' in value;
}

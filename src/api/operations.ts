import * as reviews from '#api/access-reviews/operations.ts';
import * as assemblyDiffs from '#api/assemblies/diff-operations.ts';
import * as assemblyDrafts from '#api/assemblies/draft-operations.ts';
import * as assemblyGraphs from '#api/assemblies/graph/graph-operations.ts';
import * as assemblyNodes from '#api/assemblies/node-operations.ts';
import * as assemblies from '#api/assemblies/operations.ts';
import * as assemblyRuns from '#api/assemblies/run-operations.ts';
import * as assemblyVersions from '#api/assemblies/version-operations.ts';
import * as auditChain from '#api/audit/chain-operations.ts';
import * as audit from '#api/audit/operations.ts';
import * as commands from '#api/commands/operations.ts';
import * as connectionBindings from '#api/connections/binding-operations.ts';
import * as connections from '#api/connections/operations.ts';
import * as driftFindings from '#api/drift/finding-operations.ts';
import * as driftMonitors from '#api/drift/monitor-operations.ts';
import * as driftRemediation from '#api/drift/remediation-operations.ts';
import * as driftScans from '#api/drift/scan-operations.ts';
import * as environments from '#api/environments/operations.ts';
import * as environmentVariables from '#api/environments/variable-operations.ts';
import * as applyPause from '#api/holds/apply-pause-operations.ts';
import * as environmentHolds from '#api/holds/environment-operations.ts';
import * as bootstrap from '#api/identity/bootstrap-operations.ts';
import * as emails from '#api/identity/email-operations.ts';
import * as passwords from '#api/identity/password-operations.ts';
import * as profile from '#api/identity/profile-operations.ts';
import * as auth from '#api/identity/session-operations.ts';
import * as userAdministration from '#api/identity/user-administration-operations.ts';
import * as users from '#api/identity/user-operations.ts';
import * as stateComparisons from '#api/instances/comparison-operations.ts';
import * as instanceDependencies from '#api/instances/dependency-operations.ts';
import * as instanceFollow from '#api/instances/follow-operations.ts';
import * as instances from '#api/instances/operations.ts';
import * as instanceReaders from '#api/instances/reader-operations.ts';
import * as instanceResources from '#api/instances/resource-operations.ts';
import * as instanceStates from '#api/instances/state-operations.ts';
import * as instanceTools from '#api/instances/tool-operations.ts';
import * as invitations from '#api/invitations/operations.ts';
import * as organizationInvitations from '#api/invitations/organization-operations.ts';
import * as teamInvitations from '#api/invitations/team-operations.ts';
import * as organizationMembers from '#api/members/organization-operations.ts';
import * as people from '#api/members/people-operations.ts';
import * as teamMembers from '#api/members/team-operations.ts';
import * as notificationChannels from '#api/notification-channels/operations.ts';
import * as notificationChannelUse from '#api/notification-channels/use-operations.ts';
import * as notifications from '#api/notifications/operations.ts';
import * as notificationPreferences from '#api/notifications/preference-operations.ts';
import * as notificationThreads from '#api/notifications/thread-operations.ts';
import * as organizations from '#api/organizations/operations.ts';
import type { Operation } from '#api/pipeline/operation.ts';
import * as projects from '#api/projects/operations.ts';
import * as quotas from '#api/quotas/operations.ts';
import * as specProposals from '#api/registry/proposal-operations.ts';
import * as templates from '#api/registry/template-operations.ts';
import * as templateVersions from '#api/registry/version-operations.ts';
import * as runApproval from '#api/runs/approvals/approval-operations.ts';
import * as runInbox from '#api/runs/approvals/inbox-operations.ts';
import * as runReviewers from '#api/runs/approvals/reviewer-operations.ts';
import * as runComments from '#api/runs/comment-operations.ts';
import * as runDebugLogs from '#api/runs/debug-log-operations.ts';
import * as runLists from '#api/runs/lists/list-operations.ts';
import * as runStatistics from '#api/runs/lists/statistics-operations.ts';
import * as runLogLines from '#api/runs/log-line-operations.ts';
import * as runLogs from '#api/runs/log-operations.ts';
import * as runs from '#api/runs/operations.ts';
import * as runPlans from '#api/runs/plan-operations.ts';
import * as runRepetitions from '#api/runs/repeat-operations.ts';
import * as schedules from '#api/schedules/operations.ts';
import * as search from '#api/search/operations.ts';
import * as serviceAccountKeys from '#api/service-accounts/key-operations.ts';
import * as serviceAccounts from '#api/service-accounts/operations.ts';
import * as serviceAccountTransfers from '#api/service-accounts/transfer-operations.ts';
import * as settings from '#api/settings/operations.ts';
import * as system from '#api/system/operations.ts';
import * as teams from '#api/teams/operations.ts';
import * as selectiveUndo from '#api/undo/operations.ts';
import * as variableSetAttachments from '#api/variable-sets/attachment-operations.ts';
import * as variableSets from '#api/variable-sets/operations.ts';
import * as variableSetVariables from '#api/variable-sets/variable-operations.ts';
import * as webhookDeliveries from '#api/webhooks/delivery-operations.ts';
import * as webhooks from '#api/webhooks/operations.ts';
import * as workers from '#api/workers/operations.ts';
import * as workerPools from '#api/workers/pool-operations.ts';
import * as workloadIdentity from '#api/workload-identity/operations.ts';
import * as signingKeys from '#api/workload-identity/signing-key-operations.ts';
import * as pluginActions from './plugins/action-operations.ts';
import * as pluginBackgroundPrincipals from './plugins/background-operations.ts';
import * as pluginCeilings from './plugins/ceiling-operations.ts';
import * as pluginActionGrants from './plugins/grant-operations.ts';
import * as pluginInstallations from './plugins/installation-operations.ts';
import * as pluginReleases from './plugins/release-operations.ts';
import * as pluginResources from './plugins/resource-operations.ts';

const areas = [
  system,
  bootstrap,
  auth,
  reviews,
  profile,
  passwords,
  emails,
  runs,
  runRepetitions,
  runLists,
  runStatistics,
  runApproval,
  runPlans,
  runInbox,
  runReviewers,
  runLogs,
  runDebugLogs,
  runLogLines,
  runComments,
  selectiveUndo,
  instances,
  instanceDependencies,
  instanceReaders,
  instanceFollow,
  instanceTools,
  instanceStates,
  stateComparisons,
  instanceResources,
  templates,
  specProposals,
  templateVersions,
  driftMonitors,
  driftScans,
  driftFindings,
  driftRemediation,
  assemblies,
  assemblyGraphs,
  assemblyDrafts,
  assemblyVersions,
  assemblyRuns,
  assemblyNodes,
  assemblyDiffs,
  schedules,
  connections,
  connectionBindings,
  webhooks,
  webhookDeliveries,
  notificationChannels,
  notificationChannelUse,
  notificationPreferences,
  notifications,
  notificationThreads,
  users,
  userAdministration,
  serviceAccounts,
  serviceAccountKeys,
  serviceAccountTransfers,
  organizations,
  organizationMembers,
  teams,
  teamMembers,
  projects,
  environments,
  environmentVariables,
  variableSets,
  variableSetVariables,
  variableSetAttachments,
  environmentHolds,
  applyPause,
  settings,
  workers,
  workerPools,
  workloadIdentity,
  signingKeys,
  quotas,
  pluginInstallations,
  pluginReleases,
  pluginCeilings,
  pluginActions,
  pluginActionGrants,
  pluginBackgroundPrincipals,
  pluginResources,
  people,
  search,
  commands,
  auditChain,
  audit,
  invitations,
  organizationInvitations,
  teamInvitations,
];

/** Every operation of the service: routes, reference, catalogue and tests come from this list. */
export const operations: readonly Operation[] = areas.flatMap((area) => Object.values(area).filter(isOperation));

function isOperation(value: unknown): value is Operation {
  return typeof value === 'object' && value !== null && 'route' in value;
}

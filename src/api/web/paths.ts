import { fillPath } from '#api/pipeline/answers/location.ts';

/** An address of this service, without its origin. */
export type LocalPath = `/${string}`;

/**
 * The paths of all pages and forms. Routes are registered with them, and `pagePath` builds addresses from them. Addresses of
 * the API are built by `operationPath` (src/api/pipeline/answers/location.ts).
 */
export const pages = {
  home: '/',
  search: '/search',
  login: '/login',
  logout: '/logout',
  passwordReset: '/password-reset',
  profile: '/profile',
  profilePassword: '/profile/password',
  revokeSession: '/profile/sessions/:id/revoke',
  profileApiKeys: '/profile/api-keys',
  revokeApiKey: '/profile/api-keys/:id/revoke',
  rotateApiKey: '/profile/api-keys/:id/rotate',

  catalog: '/catalog',
  newTemplate: '/catalog/new',
  template: '/catalog/:id',
  editTemplate: '/catalog/:id/edit',
  archiveTemplate: '/catalog/:id/archive',
  unarchiveTemplate: '/catalog/:id/unarchive',
  deleteTemplate: '/catalog/:id/delete',
  newRun: '/catalog/:id/run',
  publishVersion: '/catalog/:id/publish',
  templateVersion: '/catalog/:id/versions/:version',
  yankVersion: '/catalog/:id/versions/:version/yank',

  runs: '/workloads/runs',
  runStream: '/workloads/runs/stream',
  run: '/workloads/runs/:id',
  runChanges: '/workloads/runs/:id/stream',
  runLog: '/workloads/runs/:id/log',
  runLogLines: '/workloads/runs/:id/log/lines',
  runLogLine: '/workloads/runs/:id/log/lines/:number',
  runLogMatches: '/workloads/runs/:id/log/matches',
  runLogStream: '/workloads/runs/:id/log/stream',
  runLogText: '/workloads/runs/:id/log.txt',
  runPlanFile: '/workloads/runs/:id/plan.json',
  reviewRun: '/workloads/runs/:id/review',
  requestApproval: '/workloads/runs/:id/request-approval',
  commentOnRun: '/workloads/runs/:id/comments',
  cancelRun: '/workloads/runs/:id/cancel',
  forceCancelRun: '/workloads/runs/:id/force',
  requeueRun: '/workloads/runs/:id/requeue',
  deleteRun: '/workloads/runs/:id/delete',
  approvals: '/workloads/approvals',
  approvalStream: '/workloads/approvals/stream',
  approvalCount: '/workloads/approvals/count',
  resources: '/workloads/resources',
  instances: '/workloads/instances',
  newInstance: '/workloads/instances/new',
  instance: '/workloads/instances/:id',
  unlockInstance: '/workloads/instances/:id/unlock',
  importState: '/workloads/instances/:id/state',
  forgetState: '/workloads/instances/:id/forget-state',
  deleteInstance: '/workloads/instances/:id/delete',
  stateVersion: '/workloads/instances/:id/state-versions/:serial',
  compareStates: '/workloads/instances/:id/compare',
  workers: '/workloads/workers',
  worker: '/workloads/workers/:id',
  drainWorker: '/workloads/workers/:id/drain',
  workerPool: '/workloads/pools/:name',
  newWorkerPool: '/workloads/pools/new',
  deleteWorkerPool: '/workloads/pools/:name/delete',
  pauseApplies: '/workloads/apply-pause',
  resumeApplies: '/workloads/apply-pause/end',

  assemblies: '/assemblies',
  newAssembly: '/assemblies/new',
  assembly: '/assemblies/:id',
  editAssembly: '/assemblies/:id/edit',
  archiveAssembly: '/assemblies/:id/archive',
  unarchiveAssembly: '/assemblies/:id/unarchive',
  deleteAssembly: '/assemblies/:id/delete',
  assemblyDraft: '/assemblies/:id/draft',
  publishAssembly: '/assemblies/:id/publish',
  assemblyVersion: '/assemblies/:id/versions/:version',
  runAssembly: '/assemblies/:id/run',
  assemblyRun: '/assemblies/:id/runs/:runID',
  assemblyRunChanges: '/assemblies/:id/runs/:runID/stream',
  cancelAssemblyRun: '/assemblies/:id/runs/:runID/cancel',
  resumeAssemblyRun: '/assemblies/:id/runs/:runID/resume',

  environments: '/environments',
  newEnvironment: '/environments/new',
  environment: '/environments/:id',
  editEnvironment: '/environments/:id/edit',
  archiveEnvironment: '/environments/:id/archive',
  unarchiveEnvironment: '/environments/:id/unarchive',
  deleteEnvironment: '/environments/:id/delete',
  environmentVariable: '/environments/:id/variables/:name',
  newEnvironmentVariable: '/environments/:id/new-variable',
  deleteEnvironmentVariable: '/environments/:id/variables/:name/delete',
  lockEnvironment: '/environments/:id/lock',
  unlockEnvironment: '/environments/:id/unlock',
  freezeWindows: '/environments/:id/freeze-windows',

  projects: '/projects',
  newProject: '/projects/new',
  project: '/projects/:id',
  editProject: '/projects/:id/edit',
  archiveProject: '/projects/:id/archive',
  unarchiveProject: '/projects/:id/unarchive',
  transferProject: '/projects/:id/transfer',
  deleteProject: '/projects/:id/delete',

  organizations: '/organizations',
  newOrganization: '/organizations/new',
  organization: '/organizations/:orgID',
  editOrganization: '/organizations/:orgID/edit',
  archiveOrganization: '/organizations/:orgID/archive',
  unarchiveOrganization: '/organizations/:orgID/unarchive',
  transferOrganization: '/organizations/:orgID/transfer',
  deleteOrganization: '/organizations/:orgID/delete',
  organizationMembers: '/organizations/:orgID/members',
  organizationMember: '/organizations/:orgID/members/:userID',
  removeOrganizationMember: '/organizations/:orgID/members/:userID/remove',
  organizationInvitations: '/organizations/:orgID/invitations',
  revokeOrganizationInvitation: '/organizations/:orgID/invitations/:id/revoke',
  resendOrganizationInvitation: '/organizations/:orgID/invitations/:id/resend',
  newTeam: '/organizations/:orgID/teams/new',
  team: '/organizations/:orgID/teams/:id',
  editTeam: '/organizations/:orgID/teams/:id/edit',
  archiveTeam: '/organizations/:orgID/teams/:id/archive',
  unarchiveTeam: '/organizations/:orgID/teams/:id/unarchive',
  transferTeam: '/organizations/:orgID/teams/:id/transfer',
  deleteTeam: '/organizations/:orgID/teams/:id/delete',
  teamMembers: '/organizations/:orgID/teams/:id/members',
  teamMember: '/organizations/:orgID/teams/:id/members/:userID',
  removeTeamMember: '/organizations/:orgID/teams/:id/members/:userID/remove',
  teamInvitations: '/organizations/:orgID/teams/:id/invitations',
  revokeTeamInvitation: '/organizations/:orgID/teams/:id/invitations/:invitationID/revoke',
  resendTeamInvitation: '/organizations/:orgID/teams/:id/invitations/:invitationID/resend',
  acceptInvitation: '/invitations/accept',

  serviceAccounts: '/service-accounts',
  newServiceAccount: '/service-accounts/new',
  serviceAccount: '/service-accounts/:id',
  editServiceAccount: '/service-accounts/:id/edit',
  enableServiceAccount: '/service-accounts/:id/enable',
  disableServiceAccount: '/service-accounts/:id/disable',
  transferServiceAccount: '/service-accounts/:id/transfer',
  deleteServiceAccount: '/service-accounts/:id/delete',
  newServiceAccountKey: '/service-accounts/:id/api-keys',
  revokeServiceAccountKey: '/service-accounts/:id/api-keys/:keyID/revoke',
  rotateServiceAccountKey: '/service-accounts/:id/api-keys/:keyID/rotate',

  users: '/users',
  newUser: '/users/new',
  user: '/users/:id',
  editUser: '/users/:id/edit',
  confirmEmail: '/users/:id/email-confirmation',
  makePasswordReset: '/users/:id/password-reset',
  deleteUser: '/users/:id/delete',
  audit: '/audit',
  auditRecord: '/audit/:id',
} as const satisfies Record<string, LocalPath>;

export type PagePattern = (typeof pages)[keyof typeof pages];

/** The parameters that a pattern names, such as `id` of `/profile/sessions/:id/revoke`. */
export type ParamsOf<Pattern extends string> = Pattern extends `${string}:${infer Name}/${infer Rest}`
  ? Record<Name, string> & ParamsOf<`/${Rest}`>
  : Pattern extends `${string}:${infer Name}`
    ? Record<Name, string>
    : unknown;

export type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The address of a page: its parameters fill the path, and the query follows. Undefined members of the query are left out. */
export function pagePath<Pattern extends PagePattern>(
  pattern: Pattern,
  ...[params, query]: unknown extends ParamsOf<Pattern>
    ? [params?: Record<string, never>, query?: Query]
    : [params: ParamsOf<Pattern>, query?: Query]
): LocalPath {
  return withQuery(fillPath(pattern, params ?? {}), query);
}

/** Adds a query to a path. A member with several values is repeated. */
export function withQuery(path: LocalPath, query: Query = {}): LocalPath {
  const given = Object.entries(query).flatMap(([name, value]) =>
    [value ?? []].flat().map((each) => `${name}=${encodeURIComponent(each)}`),
  );
  return given.length > 0 ? `${path}?${given.join('&')}` : path;
}

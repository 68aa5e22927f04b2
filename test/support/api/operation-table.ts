import type { OrganizationRole, TeamAction, TeamRole } from '#domain/shared/vocabulary/roles.ts';
import { declaredAccess } from '../areas/declared.ts';

/**
 * Every operation and the access it demands, written by hand (specification, *Authorization model*): the permissions, then the
 * scope. `team:` and `organization:` name the action or role that is needed in the owner,
 * `service_account:` the role in the team that owns the account, `owned:` the action in the team that may own it: in an organization that
 * owns it, writing takes an admin, and reading a member. `user`: service accounts may not use it.
 * `a,b` demands one of the permissions, `a&b` both.
 * `404`: a caller without the permission is told that there is no such thing.
 * `400`: the body names the target, and one that is hidden or missing answers 400 instead of 404.
 * The tests fail for an operation that is missing here or declared differently. Areas with a `declarations.ts` have theirs there.
 */
const lines = `
system.identity                     public
system.version                      public
bootstrap.admin                     public
workload_identity.configuration     public
workload_identity.keys              public
auth.sign_in                        public
commands.get_outcome                profile:manage                      self
auth.list_sessions                  profile:manage                      self            user
auth.get_session                    profile:manage                      self            user
auth.sign_out                       profile:manage                      self            user
auth.whoami                         profile:manage                      self
auth.can_i                          profile:manage                      self
profile.list_api_keys               profile:manage                      self
profile.get_api_key                 profile:manage                      self
profile.create_api_key              profile:manage                      self            user
profile.rotate_api_key              profile:manage                      self            user
profile.regenerate_api_key          profile:manage                      self            user
profile.revoke_api_key              profile:manage                      self
profile.change_password             profile:manage                      self            user
profile.confirm_email               profile:manage                      self            user
auth.reset_password                 public
users.list                          user:manage                         platform
users.create                        user:manage                         platform
users.get                           user:manage,profile:manage          self
users.update                        user:manage,profile:manage          self
users.delete                        user:manage                         platform
users.reset_password                user:manage                         platform
users.confirm_email                 user:manage                         platform
users.issue_email_confirmation      user:manage                         platform
service_accounts.list               service_account:read                platform
service_accounts.create             service_account:manage              platform
service_accounts.get                service_account:read                service_account:owner
service_accounts.update             service_account:manage              service_account:owner
service_accounts.enable             service_account:manage              service_account:owner
service_accounts.disable            service_account:manage              service_account:owner
service_accounts.delete             service_account:manage              service_account:owner
service_accounts.transfer           service_account:manage              service_account:owner
service_account_keys.list           service_account:manage              service_account:owner
service_account_keys.get            service_account:manage              service_account:owner
service_account_keys.create         service_account:manage              service_account:owner
service_account_keys.rotate         service_account:manage              service_account:owner
service_account_keys.revoke         service_account:manage              service_account:owner
organizations.list                  organization:read                   platform
organizations.create                organization:write                  platform        user
organizations.get                   organization:read                   organization:member
organizations.update                organization:write                  organization:admin
organizations.archive               organization:write                  organization:owner
organizations.unarchive             organization:write                  organization:owner
organizations.transfer              organization:write                  organization:owner
organizations.delete                organization:write                  organization:owner
organization_members.list           organization:read                   organization:member
organization_members.get            organization:read                   organization:member
organization_members.set            organization:write                  organization:admin
organization_members.remove         organization:write                  organization:admin
organization_invitations.list       organization:write                  organization:admin
organization_invitations.get        organization:write                  organization:admin
organization_invitations.create     organization:write                  organization:admin
organization_invitations.resend     organization:write                  organization:admin
organization_invitations.revoke     organization:write                  organization:admin
invitations.accept                  profile:manage                      self            user
teams.list                          team:read                           organization:member
teams.create                        team:write                          organization:admin  user
teams.get                           team:read                           team:metadata.read
teams.list_reviewers                team:read                           team:metadata.read
teams.update                        team:write                          team:metadata.write
teams.archive                       team:write                          team:delete
teams.unarchive                     team:write                          team:delete
teams.transfer                      team:write                          team:delete
teams.delete                        team:write                          team:delete
team_members.list                   team:read                           team:metadata.read
team_members.get                    team:read                           team:metadata.read
team_members.set                    team:write                          team:membership.manage
team_members.remove                 team:write                          team:membership.manage
team_invitations.list               team:write                          team:invitation.manage
team_invitations.get                team:write                          team:invitation.manage
team_invitations.create             team:write                          team:invitation.manage
team_invitations.resend             team:write                          team:invitation.manage
team_invitations.revoke             team:write                          team:invitation.manage
projects.list                       project:read                        team:metadata.read
projects.create                     project:write                       team:metadata.write
projects.get                        project:read                        team:metadata.read
projects.update                     project:write                       team:metadata.write
projects.archive                    project:write                       team:metadata.write
projects.unarchive                  project:write                       team:metadata.write
projects.transfer                   project:write                       team:metadata.write+delete
projects.delete                     project:write                       team:metadata.write
environments.list                   environment:read                    team:metadata.read
environments.create                 environment:write                   team:metadata.write
environments.get                    environment:read                    team:metadata.read
environments.list_reviewers         environment:read                    team:metadata.read
environments.update                 environment:write                   team:metadata.write
environments.archive                environment:write                   team:metadata.write
environments.unarchive              environment:write                   team:metadata.write
environments.delete                 environment:write                   team:metadata.write
environments.lock                   environment:write                   team:metadata.write
environments.unlock                 environment:write                   team:metadata.write
environments.get_freeze_windows     environment:read                    team:metadata.read
environments.set_freeze_windows     environment:write                   team:metadata.write
quotas.list                         quota:manage                        platform
quotas.get                          quota:manage                        platform
quotas.set                          quota:manage                        platform
quotas.clear                        quota:manage                        platform
quotas.recount                      quota:manage                        platform
apply_pause.get                     settings.manage                     platform
apply_pause.set                     settings.manage                     platform
apply_pause.end                     settings.manage                     platform
signing_keys.list                   settings.manage                     platform
signing_keys.rotate                 settings.manage                     platform
settings.get                        settings.manage                     platform
settings.update                     settings.manage                     platform
environment_variables.list          environment:read                    team:metadata.read
environment_variables.get           environment:read                    team:metadata.read
environment_variables.set           environment:write,secret:manage     team:metadata.write
environment_variables.replace       environment:write,secret:manage     team:metadata.write
environment_variables.remove        environment:write,secret:manage     team:metadata.write
templates.list                      template:read                       team:metadata.read
templates.create                    template:write                      team:metadata.write
templates.propose_spec             template:write                      team:metadata.write
templates.get                       template:read                       team:metadata.read
templates.update                    template:write                      team:metadata.write
templates.archive                   template:write                      team:metadata.write
templates.unarchive                 template:write                      team:metadata.write
templates.delete                    template:write                      team:metadata.write
template_versions.list              template:read                       team:metadata.read
template_versions.get               template:read                       team:metadata.read
template_versions.file              template:read                       team:metadata.read
template_versions.publish           template:write                      team:metadata.write
template_versions.check             template:write                      team:metadata.write
template_versions.yank              template:write                      team:metadata.write
template_versions.validate          template:read                       team:metadata.read
template_versions.run               run:create                          team:secret.read
drift_monitors.list                 drift_monitor:read                  team:metadata.read
drift_monitors.create               drift_monitor:write                 team:metadata.write
drift_monitors.get                  drift_monitor:read                  team:metadata.read
drift_monitors.update               drift_monitor:write                 team:metadata.write
drift_monitors.delete               drift_monitor:write                 team:metadata.write
drift_monitors.scan                 drift_monitor:write                 team:metadata.write
drift_monitors.list_scans           drift_monitor:read                  team:metadata.read
drift_monitors.get_ignore_rules     drift_monitor:read                  team:metadata.read
drift_monitors.set_ignore_rules     drift_monitor:write                 team:metadata.write
drift_findings.list                 drift_monitor:read                  team:metadata.read
drift_findings.get                  drift_monitor:read                  team:metadata.read
drift_findings.list_evidence        drift_monitor:read                  team:metadata.read
drift_findings.suppress             drift_monitor:write                 team:metadata.write
drift_findings.suppress_many        drift_monitor:write                 team:metadata.write
drift_findings.reopen               drift_monitor:write                 team:metadata.write
drift_findings.remediate            drift_monitor:write&run:create      team:metadata.write
connections.list                    connection:manage,connection:use,connection:test owned:metadata.read
connections.create                  connection:manage                   owned:metadata.write
connections.get                     connection:manage,connection:use,connection:test owned:metadata.read
connections.update                  connection:manage                   owned:metadata.write
connections.rotate                  connection:manage                   owned:metadata.write
connections.test                    connection:test                     owned:metadata.write
connections.delete                  connection:manage                   owned:metadata.write
project_connections.get             project:read                        team:metadata.read
project_connections.replace         project:write&connection:use        team:metadata.write
environment_connections.get         environment:read                    team:metadata.read
environment_connections.replace     environment:write&connection:use    team:metadata.write
notification_preferences.get        profile:manage                      self            user
notification_preferences.replace    profile:manage                      self            user
notifications.list                  profile:manage                      self            user
notifications.count_unread          profile:manage                      self            user
notifications.get                   profile:manage                      self            user
notifications.read                  profile:manage                      self            user
notifications.put_away              profile:manage                      self            user
notifications.take_back             profile:manage                      self            user
notification_threads.put_away       profile:manage                      self            user
notification_threads.read           profile:manage                      self            user
notifications.read_all              profile:manage                      self            user
notification_threads.list           profile:manage                      self            user
notification_threads.get            profile:manage                      self            user
notification_channels.list          notification_channel:manage         owned:metadata.read
notification_channels.list_topics   notification_channel:manage         platform
notification_channels.create        notification_channel:manage         owned:metadata.write
notification_channels.get           notification_channel:manage         owned:metadata.read
notification_channels.update        notification_channel:manage         owned:metadata.write
notification_channels.delete        notification_channel:manage         owned:metadata.write
notification_channels.test          notification_channel:manage         owned:metadata.write
notification_channels.rotate        notification_channel:manage         owned:metadata.write
notification_channels.list_messages notification_channel:manage         owned:metadata.read
assemblies.list                     assembly:read,workload:read         team:metadata.read
assemblies.create                   assembly:write                      team:metadata.write
assemblies.get                      assembly:read,workload:read         team:metadata.read          404
assemblies.update                   assembly:write                      team:metadata.write         404
assemblies.archive                  assembly:write                      team:metadata.write         404
assemblies.unarchive                assembly:write                      team:metadata.write         404
assemblies.delete                   assembly:write                      team:metadata.write         404
assemblies.get_draft                assembly:write                      team:metadata.write         404
assemblies.save_draft               assembly:write                      team:metadata.write         404
assemblies.validate                 assembly:write                      team:metadata.write         404
assemblies.publish                  assembly:write                      team:metadata.write         404
assemblies.list_versions            assembly:read,workload:read         team:metadata.read          404
assemblies.get_version              assembly:read,workload:read         team:metadata.read          404
assemblies.diff                     assembly:read,workload:read         team:metadata.read          404
assemblies.run                      assembly:run                        team:metadata.write         404
assemblies.list_runs                assembly:read,workload:read         team:metadata.read          404
assemblies.get_run                  assembly:read,workload:read         team:metadata.read          404
assemblies.get_run_events           assembly:read,workload:read         team:metadata.read          404
assemblies.get_run_graph            assembly:read,workload:read         team:metadata.read          404
assemblies.cancel_run               assembly:run                        team:metadata.write         404
assemblies.resume_run               assembly:run                        team:metadata.write         404
assemblies.list_nodes               assembly:read,workload:read         team:metadata.read          404
assemblies.get_node                 assembly:read,workload:read         team:metadata.read          404
assemblies.approve_node             assembly:approve                    team:metadata.write         404
runs.list                           run:read                            team:metadata.read
runs.get_statistics                 run:read                            team:metadata.read
runs.create                         run:create                          team:secret.read
runs.get                            run:read                            team:metadata.read
runs.get_plan                       run:read                            team:metadata.read
runs.list_reviewers                 run:read                            team:metadata.read
runs.list_plan_changes              run:read                            team:metadata.read
runs.get_events                     run:read                            team:metadata.read
runs.get_logs                       run:read                            team:metadata.read
runs.get_log_lines                  run:read                            team:metadata.read
runs.find_log_lines                 run:read                            team:metadata.read
runs.stream_logs                    run:read                            team:metadata.read
run_comments.list                   run:read                            team:metadata.read
run_comments.get                    run:read                            team:metadata.read
run_comments.create                 run:create                          team:secret.read
runs.request_approval               run:read                            team:metadata.read
runs.review                         run:approve,assembly:approve        team:metadata.write
approvals.list                      run:approve,assembly:approve        platform
runs.cancel                         run:cancel                          team:metadata.write
runs.get_debug_logs                 run:create                          team:secret.read
runs.requeue                        run:create                          team:secret.read
runs.copy                           run:create                          team:secret.read
runs.list_selective_undo            run:read                            team:metadata.read
runs.check_selective_undo           run:create&run:read                 team:metadata.write
selective_undo.get                  run:read                            team:metadata.read
selective_undo.list_candidate_checks run:read                           team:metadata.read
selective_undo.check_candidate      run:create&run:read                 team:metadata.write
selective_undo.promote              run:create&run:read                 team:metadata.write
runs.delete                         run:delete                          team:metadata.write
instances.list                      workload:read                       team:metadata.read
instances.get                       workload:read                       team:metadata.read
instances.create                    environment:write                   team:metadata.write
instances.delete                    environment:write                   team:metadata.write
instances.list_resources            workload:read                       team:metadata.read
resources.list                      workload:read                       team:metadata.read
instances.get_outputs               workload:read                       team:metadata.read
instances.list_state_versions       workload:read                       team:metadata.read
instances.get_state_version         workload:read                       team:metadata.read
instances.download_state            environment:write                   team:metadata.write+secret.read
instances.compare_states            environment:write                   team:metadata.write+secret.read
instances.import_state              environment:write                   team:metadata.write+secret.read
instances.forget_state              environment:write                   team:metadata.write+secret.read
instances.get_dependencies          workload:read                       team:metadata.read
instances.get_readers               workload:read                       team:metadata.read
instances.set_readers               environment:write                   team:metadata.write
instances.get_follow                workload:read                       team:metadata.read
instances.set_follow                environment:write&run:create        team:metadata.write+secret.read
instances.switch_tool               environment:write                   team:metadata.write
instances.unlock                    run:cancel                          team:metadata.write
workers.list                        worker:read                         platform
workers.get                         worker:read                         platform
workers.drain                       worker:manage                       platform
worker_pools.list                   worker:read                         platform
worker_pools.get                    worker:read                         platform
worker_pools.create                 worker:manage                       platform
worker_pools.update                 worker:manage                       platform
worker_pools.delete                 worker:manage                       platform
people.find                         organization:read                   platform
search.find                         workload:read                       platform
plugin_installations.list           team:read,organization:read         owned:metadata.read
plugin_installations.get            team:read,organization:read         owned:metadata.read
plugin_installations.create         team:write,organization:write       owned:membership.manage
plugin_installations.delete         team:write,organization:write       owned:membership.manage
plugin_installations.list_manifests team:read,organization:read         owned:metadata.read
plugin_installations.stage_manifest team:write,organization:write       owned:membership.manage
plugin_installations.activate       team:write,organization:write       owned:membership.manage
plugin_installations.list_actions   team:read,organization:read         owned:metadata.read
plugin_installations.get_ceiling    team:read,organization:read         owned:metadata.read
plugin_installations.replace_ceiling settings.manage                     owned:metadata.read
plugin_actions.list                 team:read,organization:read         owned:metadata.read
plugin_actions.check                team:read,organization:read         owned:metadata.read  400
plugin_actions.review_grant         team:read,organization:read         owned:metadata.read  400
plugin_action_grants.list           team:read,organization:read         platform
plugin_action_grants.get            team:read,organization:read         owned:metadata.read
plugin_action_grants.create         team:write,organization:write       owned:membership.manage  400
plugin_action_grants.revoke         team:write,organization:write       owned:membership.manage
plugin_background_principals.list   team:read,organization:read         platform
plugin_background_principals.get    team:read,organization:read         owned:metadata.read
plugin_background_principals.approve team:write,organization:write       owned:membership.manage  400
plugin_background_principals.revoke team:write,organization:write       owned:membership.manage
plugin_resources.list               team:read,organization:read         owned:metadata.read
plugin_resources.get                team:read,organization:read         owned:metadata.read
plugin_resources.create             team:write,organization:write       owned:membership.manage
plugin_resources.delete             team:write,organization:write       owned:membership.manage
plugin_resources.restore            team:write,organization:write       owned:membership.manage
audit_records.list                  audit:read,profile:manage           platform
audit_records.list_actions          audit:read,profile:manage           platform
audit_records.export                audit:read,profile:manage           platform
audit_records.verify                settings.manage                     platform
audit_records.get                   audit:read,profile:manage           platform
`;

export interface Demand {
  readonly permissions: readonly string[];
  /** Permissions that are needed as well. */
  readonly also: readonly string[];
  readonly scope: 'self' | 'platform' | 'organization' | 'team' | 'owned' | 'service_account';
  readonly organizationRole: OrganizationRole | null;
  readonly teamActions: readonly TeamAction[];
  readonly peopleOnly: boolean;
  /** The status of the answer to a caller without the permission. */
  readonly refusal: 403 | 404;
  /** The status of the answer for a target that is missing, or that the caller may not read. */
  readonly missing: 400 | 404;
}

/** The demand of each operation; null if it is public. */
export const demands: ReadonlyMap<string, Demand | null> = new Map(
  `${lines}${declaredAccess}`
    .trim()
    .split('\n')
    .map((line) => line.split(/\s+/))
    .map(([id = '', permissions = '', where = '', kind]) => [
      id,
      permissions === 'public' ? null : toDemand(permissions, where, kind),
    ]),
);

function toDemand(permissions: string, where: string, kind: string | undefined): Demand {
  const [alternatives = '', ...also] = permissions.split('&');
  const [scope, needed = ''] = where.split(':') as [Demand['scope'], string?];
  return {
    scope,
    permissions: alternatives.split(','),
    also,
    organizationRole: toOrganizationRole(scope, needed),
    teamActions:
      scope === 'team' || scope === 'owned' ? needed.split('+').map((action) => `team.${action}` as TeamAction) : [],
    peopleOnly: kind === 'user',
    refusal: kind === '404' ? 404 : 403,
    missing: kind === '400' ? 400 : 404,
  };
}

function toOrganizationRole(scope: Demand['scope'], needed: string): OrganizationRole | null {
  if (scope === 'owned') return /^(metadata\.write|membership\.manage)$/.test(needed) ? 'admin' : 'member';
  return scope === 'organization' ? (needed as OrganizationRole) : null;
}

/** Team roles and their actions (specification, *Team roles and actions*), weakest first. */
export const teamRoleActions: readonly [TeamRole, readonly TeamAction[]][] = [
  ['viewer', ['team.metadata.read']],
  ['member', ['team.metadata.read', 'team.secret.read']],
  [
    'admin',
    [
      ...(['team.metadata.read', 'team.secret.read', 'team.metadata.write'] as const),
      ...(['team.membership.manage', 'team.invitation.manage'] as const),
    ],
  ],
  [
    'owner',
    [
      ...(['team.metadata.read', 'team.secret.read', 'team.metadata.write'] as const),
      ...(['team.membership.manage', 'team.invitation.manage', 'team.owner.manage', 'team.delete'] as const),
    ],
  ],
];

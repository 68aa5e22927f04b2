import type { Operation } from '#api/pipeline/operation.ts';

/** Groups of the reference that hold several areas, by the beginning of their operations' ids. */
const sharedGroups: readonly (readonly [prefix: string, group: string])[] = [['plugin_', 'Plugin Permissions']];

/** The group of an operation in the reference: unless it has a shared one, the part of its id before the dot names it. */
export function tagOf({ id }: Pick<Operation, 'id'>): string {
  const shared = sharedGroups.find(([prefix]) => id.startsWith(prefix));
  return shared?.[1] ?? id.slice(0, id.indexOf('.'));
}

/** What each group of operations is about. */
export const tags: Readonly<Record<string, string>> = {
  'Plugin Permissions':
    'What plugins declare, what is approved of them, who may use their actions where, and their resources.',
  apply_pause: 'The pause of all applies of the installation.',
  approvals: 'What waits for your approval.',
  assemblies: 'Graphs of templates that are run together: drafts, versions, comparisons.',
  audit_records: 'Who did what, when, and what was refused.',
  auth: 'Signing in and out, who you are, and what you may do.',
  bootstrap: 'The first administrator of a new installation.',
  commands: 'What became of a command, by its Idempotency-Key.',
  connections: 'Credentials for systems outside, which nobody is shown.',
  project_connections: 'Which connections a project gives its runs.',
  environment_connections: 'Which connections an environment gives its runs.',
  drift_findings: 'What differs from what was deployed: evidence, suppression, remediation.',
  drift_monitors: 'Scanning instances for drift, by schedule or at once.',
  environment_variables: 'Variables and secrets that runs in an environment get.',
  environments: 'Where runs happen: approval policy, lifetime, isolation, lock and freeze windows.',
  instances: 'What is deployed, with its resources, state versions and outputs.',
  invitations: 'Accepting an invitation.',
  notification_channels: 'Telling groups of people what happens, by e-mail, in a chat or by a signed message.',
  notification_preferences: 'Of which kinds of notifications you want to hear.',
  notification_threads: 'What you were told, by what it is about.',
  notifications: 'What you were told: what waits for you, how it ended, what ends soon.',
  organization_invitations: 'Inviting people into an organization.',
  organization_members: 'Who is in an organization, in which role.',
  organizations: 'Tenants. Everything else belongs to one, by its team.',
  profile: 'Your own sessions, password, address and API keys.',
  projects: 'Groups of environments in a team.',
  quotas: 'How much the installation, an organization, a team or an environment may use.',
  resources: 'What all instances hold.',
  run_comments: 'What people say about runs.',
  runs: 'Governed changes: plan, review, apply, logs.',
  schedules: 'Runs and assembly runs at set times.',
  search: 'Finding things by id or name.',
  selective_undo: 'Undoing what one run changed, and keeping what later runs changed.',
  service_account_keys: 'API keys of service accounts.',
  service_accounts: 'Accounts for automation.',
  settings: 'The settings of the installation: defaults, retention, and which areas are on.',
  signing_keys: 'The keys by which the service signs the tokens of runs.',
  system: 'What this service is.',
  team_invitations: 'Inviting people into a team.',
  team_members: 'Who is in a team, in which role.',
  teams: 'Teams own projects, templates and service accounts.',
  template_versions: 'Published versions of templates, which never change.',
  templates: 'What can be run.',
  users: 'The people of the installation.',
  webhooks: 'Sending what happens to other services, signed, and what these have answered.',
  worker_pools: 'Which runs which workers execute, and what their code may reach.',
  variable_set_attachments: 'Where a variable set gives its variables.',
  variable_set_variables: 'Variables and secrets of a set.',
  variable_sets: 'Variables that several projects and environments share.',
  workload_identity: 'How verifiers outside check the tokens of runs.',
  workers: 'The processes that execute runs.',
};

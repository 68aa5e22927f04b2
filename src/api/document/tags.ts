/** Groups of the reference that hold several areas, by the beginning of their operations' ids. */
const sharedGroups: readonly (readonly [prefix: string, group: string])[] = [['plugin_', 'Plugin Permissions']];

/** The group of an operation in the reference: unless it has a shared one, the part of its id before the dot names it. */
export function tagOf({ id }: { readonly id: string }): string {
  const shared = sharedGroups.find(([prefix]) => id.startsWith(prefix));
  return shared?.[1] ?? id.slice(0, id.indexOf('.'));
}

/** What each group of operations is about, in the order in which the reference shows them. */
export const tags: Readonly<Record<string, string>> = {
  runs: 'Governed changes: plan, review, apply, logs.',
  run_comments: 'What people say about runs.',
  approvals: 'What waits for your approval.',
  instances: 'What is deployed, with its resources, state versions and outputs.',
  resources: 'What all instances hold.',
  selective_undo: 'Undoing what one run changed, and keeping what later runs changed.',
  templates: 'What can be run.',
  template_versions: 'Published versions of templates, which never change.',
  projects: 'Groups of environments in a team.',
  environments: 'Where runs happen: approval policy, lifetime, isolation, lock and freeze windows.',
  environment_variables: 'Variables and secrets that runs in an environment get.',
  variable_sets: 'Variables that several projects and environments share.',
  variable_set_variables: 'Variables and secrets of a set.',
  variable_set_attachments: 'Where a variable set gives its variables.',
  assemblies: 'Graphs of templates that are run together: drafts, versions, comparisons.',
  schedules: 'Runs and assembly runs at set times.',
  drift_monitors: 'Scanning instances for drift, by schedule or at once.',
  drift_findings: 'What differs from what was deployed: evidence, suppression, remediation.',
  connections: 'Credentials for systems outside. They are never shown again.',
  project_connections: 'Which connections a project gives its runs.',
  environment_connections: 'Which connections an environment gives its runs.',
  workload_identity: 'How verifiers outside check the tokens of runs.',
  signing_keys: 'The keys by which the service signs the tokens of runs.',
  worker_pools: 'Which runs which workers execute, and what their code may reach.',
  workers: 'The processes that execute runs.',
  apply_pause: 'The pause of all applies of the installation.',
  notifications: 'What you were told: what waits for you, how it ended, what ends soon.',
  notification_threads: 'What you were told, by what it is about.',
  notification_preferences: 'Of which kinds of notifications you want to hear.',
  notification_channels: 'Telling groups of people what happens, by e-mail, in a chat or by a signed message.',
  webhooks: 'Sending what happens to other services, signed, and what these have answered.',
  people: 'Finding people by name or e-mail address.',
  search: 'Finding things by id or name.',
  profile: 'Your own sessions, password, address and API keys.',
  auth: 'Signing in and out, who you are, and what you may do.',
  users: 'The people of the installation.',
  organizations: 'Tenants. Everything else belongs to one, by its team.',
  organization_members: 'Who is in an organization, in which role.',
  organization_invitations: 'Inviting people into an organization.',
  invitations: 'Accepting an invitation.',
  teams: 'Teams own projects, templates and service accounts.',
  team_members: 'Who is in a team, in which role.',
  team_invitations: 'Inviting people into a team.',
  service_accounts: 'Accounts for automation.',
  service_account_keys: 'API keys of service accounts.',
  'Plugin Permissions':
    'What plugins declare, what is approved of them, who may use their actions where, and their resources.',
  commands: 'What became of a command, by its Idempotency-Key.',
  audit_records: 'Who did what, when, and what was refused.',
  quotas: 'How much the installation, an organization, a team or an environment may use.',
  settings: 'The settings of the installation: defaults, retention, and which areas are on.',
  system: 'What this service is.',
  bootstrap: 'The first administrator of a new installation.',
};

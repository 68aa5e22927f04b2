import { Migration } from '@mikro-orm/migrations';

/**
 * Marks the records of actions that change nothing: denied reads above all. The list of changes, which the page of the audit shows first, finds them by indexes
 * that hold no reads, however many reads were denied meanwhile.
 */
export class AuditReads extends Migration {
  override up(): void {
    this.addSql(`alter table "audit_records" add column "is_read" boolean not null default false`);
    this.addSql(
      `update "audit_records" set "is_read" = true where "action" in (${reads.map((action) => `'${action}'`).join(', ')})`,
    );
    for (const [name, columns, condition] of indexes) {
      const where = ['not "is_read"', ...(condition === undefined ? [] : [condition])].join(' and ');
      this.addSql(`create index "audit_records_${name}_changes_index" on "audit_records" (${columns}) where ${where}`);
    }
  }
}

const indexes: readonly (readonly [name: string, columns: string, condition?: string])[] = [
  ['at', '"at", "id"'],
  ['actor', '"actor_id", "at"'],
  ['team', '"team_id", "at"', '"team_id" is not null'],
  ['organization', '"organization_id", "at"', '"organization_id" is not null'],
];

/** The actions of operations that only read, as they were when this migration was written. */
const reads = `
  apply_pause.get approvals.list assemblies.diff assemblies.get assemblies.get_draft assemblies.get_node assemblies.get_run assemblies.get_run_events
  assemblies.get_run_graph assemblies.get_version assemblies.list assemblies.list_nodes assemblies.list_runs assemblies.list_versions
  assemblies.validate audit_records.exported audit_records.get audit_records.list audit_records.list_actions audit_records.verified auth.can_i
  auth.get_session auth.list_sessions auth.whoami commands.get_outcome connections.get connections.list drift_findings.get drift_findings.list
  drift_findings.list_evidence drift_monitors.get drift_monitors.get_ignore_rules drift_monitors.list drift_monitors.list_scans
  environment_connections.get environment_variables.get environment_variables.list environments.get environments.get_freeze_windows environments.list
  environments.list_reviewers instance.state_downloaded instance.states_compared instances.get instances.get_dependencies instances.get_follow
  instances.get_outputs instances.get_readers instances.get_state_version instances.list instances.list_resources instances.list_state_versions
  notification_channels.get notification_channels.list notification_channels.list_messages notification_channels.list_topics
  notification_preferences.get notification_threads.get notification_threads.list notifications.count_unread notifications.get notifications.list
  organization_invitations.get organization_invitations.list organization_members.get organization_members.list organizations.get organizations.list
  people.find plugin_action_grants.get plugin_action_grants.list plugin_actions.check plugin_actions.list plugin_actions.review_grant
  plugin_background_principals.get plugin_background_principals.list plugin_installations.get plugin_installations.get_ceiling plugin_installations.list
  plugin_installations.list_actions plugin_installations.list_manifests plugin_resources.get plugin_resources.list profile.get_api_key
  profile.list_api_keys project_connections.get projects.get projects.list quotas.get quotas.list resources.list run_comments.get run_comments.list
  runs.find_log_lines runs.get runs.get_debug_logs runs.get_events runs.get_log_lines runs.get_logs runs.get_plan runs.get_statistics runs.list
  runs.list_plan_changes runs.list_reviewers runs.list_selective_undo runs.stream_logs schedules.get schedules.list search.find selective_undo.get
  selective_undo.list_candidate_checks service_account_keys.get service_account_keys.list service_accounts.get service_accounts.list settings.get
  signing_keys.list team_invitations.get team_invitations.list team_members.get team_members.list teams.get teams.list teams.list_reviewers
  template_versions.check template_versions.file template_versions.get template_versions.list template_versions.validate templates.get templates.list
  templates.propose_spec users.get users.list variable_set_attachments.get variable_set_variables.get variable_set_variables.list variable_sets.get
  variable_sets.list webhooks.get webhooks.get_delivery webhooks.list webhooks.list_deliveries webhooks.list_events worker_pools.get worker_pools.list
  workers.get workers.list
`
  .trim()
  .split(/\s+/);

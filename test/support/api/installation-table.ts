import { listDeclared } from '../areas/declared.ts';

/**
 * The operations with a rule of their own for what belongs to the whole installation, written by hand like `operation-table.ts`. Others treat it as what belongs to
 * a team. Whoever made such a thing may use it as administrators do.
 */

const idsOf = (text: string): string[] => text.trim().split(/\s+/).sort();

/** Only administrators may use them on what everybody may read. */
export const forAdministrators = idsOf(`${listDeclared('forAdministrators').join(' ')}
  instances.create instances.delete instances.unlock instances.set_readers instances.set_follow instances.switch_tool instances.download_state
  instances.forget_state instances.import_state instances.compare_states instances.list_resources templates.archive templates.create
  templates.delete templates.unarchive templates.update templates.propose_spec template_versions.check template_versions.publish
  template_versions.yank drift_monitors.create connections.create connections.delete connections.rotate connections.test connections.update
  notification_channels.create
`);

/** To others than administrators, what they are about does not exist. */
export const hiddenFromOthers = idsOf(`${listDeclared('hiddenFromOthers').join(' ')}
  drift_monitors.get drift_monitors.delete drift_monitors.update drift_monitors.get_ignore_rules drift_monitors.list_scans
  drift_monitors.set_ignore_rules drift_monitors.scan drift_findings.get drift_findings.list_evidence drift_findings.reopen drift_findings.suppress
  drift_findings.suppress_many drift_findings.remediate
  notification_channels.get notification_channels.delete notification_channels.update
  notification_channels.list_messages notification_channels.rotate notification_channels.test
`);

/** Their access reviews may name no team: a review is then about what belongs to the whole installation. */
export const reviewedWithoutTeam = idsOf(`
  runs.cancel runs.create runs.get runs.delete runs.copy runs.requeue runs.list runs.request_approval runs.review run_comments.create
  runs.check_selective_undo selective_undo.check_candidate selective_undo.get selective_undo.promote instances.create instances.get instances.list
  instances.delete instances.unlock instances.set_readers instances.set_follow instances.switch_tool instances.download_state instances.forget_state
  instances.import_state resources.list instances.list_resources templates.create templates.get templates.list templates.delete templates.update
  drift_monitors.create drift_monitors.get drift_monitors.list drift_monitors.delete drift_monitors.update drift_monitors.scan drift_findings.get
  drift_findings.list drift_findings.reopen drift_findings.suppress drift_findings.remediate service_accounts.create service_accounts.disable
  service_accounts.enable service_accounts.get service_accounts.delete service_accounts.update service_accounts.transfer
`);

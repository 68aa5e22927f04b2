import { newId } from '#domain/shared/ids.ts';
import { sayHello } from '../access/people.ts';
import { mergeDeclared } from '../areas/declared.ts';
import { pluginBodies } from './plugin-bodies.ts';
import type { Ids } from './tenant-ids.ts';

/** An address that tests may use and nothing answers at. */
export const signing = { name: 'On call', kind: 'webhook', config: { url: 'http://127.0.0.9:9/hook' }, enabled: false };

export function genericConnection() {
  return { name: `Connection ${newId()}`, kind: 'generic', credentials: { variables: { TOKEN: 'kept' } } };
}

const inAWeek = () => new Date(Date.now() + 7 * 24 * 3600_000).toISOString();

/** An example body for every operation that takes one. Areas with a `declarations.ts` have theirs there. */
export const bodies: Record<string, (ids: Ids) => object> = {
  ...mergeDeclared('bodies'),
  'auth.can_i': ({ project, team }) => ({
    resource_attributes: {
      group: 'delivery.coordinator',
      version: 'v1',
      resource: 'projects',
      verb: 'get',
      name: project,
      team_id: team,
    },
  }),
  'profile.create_api_key': () => ({ name: 'ci' }),
  'profile.rotate_api_key': () => ({}),
  'profile.regenerate_api_key': () => ({}),
  'profile.change_password': () => ({
    current_password: 'not the one',
    new_password: 'long enough',
    confirm_password: 'long enough',
  }),
  'profile.confirm_email': () => ({ token: 'not the one' }),
  'users.confirm_email': () => ({}),
  'users.create': () => ({ email: `${newId()}@example.com`, name: 'New', password: 'long enough', role: 'requester' }),
  'users.update': () => ({ name: 'Renamed' }),
  'service_accounts.create': ({ team }) => ({ name: 'deploy', role: 'requester', owner: { team_id: team } }),
  'service_accounts.update': () => ({ name: 'Renamed' }),
  'service_accounts.transfer': ({ team }) => ({ owner: { team_id: team } }),
  'service_account_keys.create': () => ({ name: 'ci' }),
  'service_account_keys.rotate': () => ({}),
  'organizations.create': () => ({ name: `Organization ${newId()}` }),
  'organizations.update': () => ({ name: 'Renamed' }),
  'organizations.transfer': ({ person }) => ({ new_owner_user_id: person }),
  'teams.transfer': ({ organization }) => ({ organization_id: organization }),
  'projects.transfer': ({ team }) => ({ team_id: team }),
  'organization_invitations.create': ({ team }) => ({ email: `${newId()}@example.com`, team_id: team }),
  'team_invitations.create': () => ({ email: `${newId()}@example.com` }),
  'invitations.accept': () => ({ token: 'none' }),
  'organization_members.set': () => ({ role: 'member' }),
  'teams.create': () => ({ name: 'Platform' }),
  'teams.update': () => ({ name: 'Renamed' }),
  'team_members.set': () => ({ role: 'viewer' }),
  'projects.create': ({ team }) => ({ team_id: team, name: 'Network' }),
  'projects.update': () => ({ name: 'Renamed' }),
  'environments.create': ({ project }) => ({ project_id: project, name: 'Staging', kind: 'staging' }),
  'environments.update': () => ({ name: 'Renamed' }),
  'environments.lock': () => ({ reason: 'An incident' }),
  'environments.set_freeze_windows': () => ({ freeze_windows: [] }),
  'signing_keys.rotate': () => ({ withdraw_others: true }),
  'quotas.set': () => ({ limits: { instances: 100 } }),
  'apply_pause.set': () => ({ reason: 'An incident' }),
  'settings.update': () => ({ sign_in_notice: `Notice ${newId()}` }),
  'environment_variables.set': () => ({ value: 'eu', category: 'template' }),
  'environment_variables.replace': () => ({ variables: [{ name: 'REGION', value: 'eu', category: 'template' }] }),
  'templates.create': ({ team }) => ({ team_id: team, name: 'Network' }),
  'templates.propose_spec': ({ team }) => ({ team_id: team, files: { 'main.tf': 'variable "size" {}' } }),
  'templates.update': () => ({ description: 'Changed' }),
  'template_versions.publish': () => ({ version: '2.0.0', spec: sayHello }),
  'template_versions.check': () => ({ spec: sayHello }),
  'template_versions.validate': () => ({ variables: {} }),
  'template_versions.yank': () => ({ reason: 'Replaced' }),
  'template_versions.run': ({ environment }) => ({ environment_id: environment }),
  'connections.create': ({ team }) => ({ ...genericConnection(), ...(team !== undefined && { team_id: team }) }),
  'connections.update': () => ({ name: `Renamed ${newId()}` }),
  'connections.test': () => ({}),
  'connections.rotate': () => ({ credentials: { variables: { TOKEN: 'replaced' } } }),
  'project_connections.replace': ({ connection }) => ({ cloud: { connection_id: connection } }),
  'environment_connections.replace': ({ connection }) => ({ cloud: { connection_id: connection, phases: ['apply'] } }),
  'notification_preferences.replace': () => ({ preferences: [{ kind: 'run.finished', page: false }] }),
  'notification_channels.create': ({ team }) => ({ ...signing, team_id: team }),
  'notification_channels.update': () => ({ name: 'Renamed' }),
  'notification_channels.rotate': () => ({}),
  ...pluginBodies,
  'assemblies.create': ({ team }) => ({ team_id: team, name: `Landscape ${newId()}` }),
  'assemblies.update': () => ({ description: 'Changed' }),
  'assemblies.save_draft': ({ template }) => ({ spec: { nodes: { network: { template } } } }),
  'assemblies.validate': () => ({}),
  'assemblies.publish': () => ({ version: '2.0.0' }),
  'assemblies.run': ({ environment }) => ({ environment_id: environment }),
  'assemblies.cancel_run': () => ({}),
  'assemblies.approve_node': () => ({ decision: 'approve', plan_digest: `sha256:${'0'.repeat(64)}` }),
  'drift_monitors.create': ({ environment, template }) => ({
    ...(environment === undefined ? { template_id: template } : { environment_id: environment }),
    schedule: { every: 'PT6H' },
  }),
  'drift_monitors.update': () => ({ enabled: false }),
  'drift_monitors.set_ignore_rules': () => ({ rules: [{ address: '*', path: 'tags.*' }] }),
  'drift_findings.suppress': ({ evidence = newId() }) => ({
    evidence_id: evidence,
    reason: 'Accepted',
    until: inAWeek(),
  }),
  'drift_findings.suppress_many': ({ finding, evidence = newId() }) => ({
    findings: [{ id: finding, evidence_id: evidence }],
    reason: 'Accepted',
    until: inAWeek(),
  }),
  'drift_findings.reopen': () => ({ reason: 'It is not right' }),
  'drift_findings.remediate': ({ evidence = newId() }) => ({
    evidence_id: evidence,
    expected_revision: 1,
    direction: 'revert',
  }),
  'runs.create': ({ template, environment }) => ({ template_id: template, environment_id: environment }),
  'runs.request_approval': () => ({}),
  'runs.review': () => ({ decision: 'approve', plan_digest: `sha256:${'0'.repeat(64)}` }),
  'selective_undo.promote': () => ({ candidate_digest: `hmac-sha256:${'0'.repeat(64)}`, accepted_collateral: [] }),
  'runs.cancel': () => ({}),
  'instances.create': ({ template, environment }) => ({
    template_id: template,
    environment_id: environment,
    name: `made-${newId()}`,
  }),
  'runs.copy': () => ({}),
  'run_comments.create': () => ({ text: 'Looks good.' }),
  'instances.delete': () => ({}),
  'instances.forget_state': () => ({}),
  'instances.set_readers': ({ team, environment }) => ({
    // A question about nobody's instance names no team.
    team_ids: [team].filter(Boolean),
    environment_ids: [environment].filter(Boolean),
  }),
  'instances.set_follow': () => ({ enabled: true }),
  'instances.switch_tool': () => ({ tool: { name: 'terraform' } }),
  'instances.import_state': () => ({ version: 4, serial: 1, lineage: 'a', resources: [] }),
  'worker_pools.create': () => ({ name: `pool-${newId()}` }),
  'worker_pools.update': () => ({ isolation: 'sandbox' }),
};

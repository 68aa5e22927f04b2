import { readdirSync, readFileSync } from 'node:fs';
import { join as joinPath } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ErrorCode, errorCodes } from '#domain/error-codes.ts';
import { newId } from '#domain/shared/ids.ts';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiAnswer, type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { mergeDeclared } from '#test/support/areas/declared.ts';
import { addFinding, addMonitor, addScan, deploy, type Execute } from '#test/support/drift/drift-rows.ts';
import { pluginRefusals } from '#test/support/plugins/refusals.ts';

let api: TestApi;
let admin: ApiUser;
let tenant: Tenant;
beforeAll(async () => {
  api = await startApi();
  admin = await api.addUser('admin');
  tenant = await makeTenant(api);
});
afterAll(() => api?.close());

const organization = () => `/organizations/${tenant.organization}`;
const executor = { kind: 'command', apply: [{ name: 'go', run: ['true'] }] };

async function publish(spec: object = { executor }): Promise<{ id: string; answer: ApiAnswer }> {
  const { id } = await tenant.owner.make('/registry/templates', {
    name: `T ${crypto.randomUUID()}`,
    team_id: tenant.team,
  });
  const answer = await tenant.owner.post(`/registry/templates/${id}/versions`, { version: '1.0.0', spec });
  return { id, answer };
}

const tofu = { executor: { kind: 'opentofu', files: { 'main.tf': 'resource "terraform_data" "a" {}' } } };
const publishGit = async (git: object) => (await publish({ executor: { kind: 'opentofu', git } })).answer;

async function run(body: object, spec?: object): Promise<ApiAnswer> {
  const { id } = await publish(spec);
  return tenant.owner.post('/runs', { template_id: id, environment_id: tenant.environment, ...body });
}

async function invite(): Promise<{ id: string; email: string }> {
  const email = `${crypto.randomUUID()}@example.com`;
  const { status, body, text } = await tenant.owner.post(`${organization()}/invitations`, { email });
  expect(status, text).toBe(201);
  return { id: body.id ?? body.invitation?.id, email };
}

const assemble = () => tenant.owner.make('/assemblies', { name: `A ${crypto.randomUUID()}`, team_id: tenant.team });

/** Starts a run of a new assembly, whose node `b` waits for `a`. No worker executes it. */
async function runAssembly(body: object = {}): Promise<{ path: string; answer: ApiAnswer }> {
  const [{ id: template }, { id }] = [await publish(), await assemble()];
  const nodes = { a: { template }, b: { template, depends_on: ['a'] } };
  await tenant.owner.put(`/assemblies/${id}/draft`, { spec: { nodes } });
  const published = await tenant.owner.post(`/assemblies/${id}/publish`, { version: '1.0.0' });
  expect(published.status, published.text).toBe(201);
  const path = `/assemblies/${id}/runs`;
  const answer = await tenant.owner.post(path, { environment_id: tenant.environment, ...body });
  return { path: `${path}/${answer.body.id}`, answer };
}

/** Binds a new connection to the environment under these names, and nothing else. */
async function bindSecret(...names: string[]): Promise<string> {
  const credentials = { variables: { SAME: 'secret' } };
  const body = { name: `C ${crypto.randomUUID()}`, kind: 'generic', team_id: tenant.team, credentials };
  const { id } = await tenant.owner.make('/admin/connections', body);
  const bindings = Object.fromEntries(names.map((name) => [name, { connection_id: id }]));
  const bound = await tenant.owner.put(`/environments/${tenant.environment}/connections`, bindings);
  expect(bound.status, bound.text).toBe(200);
  return id;
}

const withKey = () => ({ 'idempotency-key': crypto.randomUUID() });

/** An attempt at undoing a run, in a state. */
async function undo(state: string, run?: string): Promise<string> {
  const [id, candidate] = [crypto.randomUUID(), JSON.stringify({ digest: 'x', version: '1.0.0', variables: {} })];
  await api.rows(
    `insert into selective_undo_attempts (id, run_id, instance_id, state, verdicts, changes, candidate, state_serial, requested_by_id,
        requested_by_type, requested_by_name, created_at)
      select ?, id, instance_id, ?, '[]', '[]', ?, 7, gen_random_uuid(), 'user', 'Ana', now() from runs where id = ?`,
    [id, state, candidate, run ?? (await admitted())],
  );
  return id;
}

/** A deployed instance with a monitor and a finding. */
async function drifting() {
  const run = await admitted();
  const [{ instance } = { instance: '' }] = await api.rows<{ instance: string }>(
    'select instance_id as instance from runs where id = ?',
    [run],
  );
  const place = { instance, team: tenant.team, environment: tenant.environment };
  const execute: Execute = (sql, values) => api.rows(sql, values);
  await deploy(execute, { run, instance });
  const monitor = await addMonitor(execute, place);
  return { run, instance, monitor, ...(await addFinding(execute, { ...place, monitor, run })) };
}

/** A run that no worker executes. */
async function admitted(): Promise<string> {
  const { status, body, text } = await run({ instance: `i-${crypto.randomUUID()}` });
  expect(status, text).toBe(202);
  return body.id;
}

const refusals: Record<string, () => Promise<ApiAnswer>> = {
  ...Object.fromEntries(
    Object.entries(mergeDeclared('refusals')).map(([code, refuse]) => [code, () => refuse(tenant)] as const),
  ),
  filters_contradict: async () => {
    const { organization: other } = await makeTenant(api);
    return admin.get(`/runs?team_id=${tenant.team}&organization_id=${other}`);
  },
  feature_disabled: async () => {
    await admin.patch('/admin/settings', { features: { schedules: { enabled: false, reason: 'a test' } } });
    const answer = await tenant.owner.get('/schedules');
    await admin.patch('/admin/settings', { features: { schedules: { enabled: true } } });
    return answer;
  },
  tool_not_allowed: async () => {
    await admin.patch('/admin/settings', { allowed_tools: { opentofu: ['*'] } });
    const { answer } = await publish();
    await admin.patch('/admin/settings', { allowed_tools: null });
    return answer;
  },
  configuration_invalid: async () =>
    (await publish({ executor: { kind: 'opentofu', files: { 'main.tf': 'output "a" { value = var.missing }' } } }))
      .answer,
  same_tool: async () => {
    const { body } = await run({ instance: `i-${crypto.randomUUID()}` }, tofu);
    await api.rows(`update instances set tool = 'opentofu', deployed_run_id = ? where id = ?`, [
      body.id,
      body.instance_id,
    ]);
    return tenant.owner.post(`/instances/${body.instance_id}/tool-switch`, { tool: { name: 'opentofu' } });
  },
  tool_conflict: async () => {
    await admin.patch(`/environments/${tenant.environment}`, { tool: { name: 'opentofu', version: '< 1.0' } });
    const executor = { kind: 'opentofu', files: { 'main.tf': 'terraform {\n  required_version = ">= 1.0"\n}' } };
    const answer = await run({}, { executor });
    await admin.patch(`/environments/${tenant.environment}`, { tool: null });
    return answer;
  },
  quota_exceeded: async () => {
    await admin.put(`/admin/quotas/environment/${tenant.environment}`, { limits: { queued_runs: 0 } });
    const answer = await run({ instance: 'beyond' });
    await admin.delete(`/admin/quotas/environment/${tenant.environment}`);
    return answer;
  },
  email_taken: () =>
    admin.post('/users', { email: admin.email, name: 'Twin', password: 'long enough', role: 'requester' }),
  name_taken: async () => {
    await admin.make('/worker-pools', { name: 'twice' });
    return admin.post('/worker-pools', { name: 'twice' });
  },
  slug_taken: async () => {
    const named = { name: 'Twice', slug: 'twice', team_id: tenant.team };
    await tenant.owner.make('/projects', named);
    return tenant.owner.post('/projects', named);
  },
  pool_required: async () => {
    await admin.post('/worker-pools', { name: 'default' });
    return admin.delete('/worker-pools/default');
  },
  unknown_reference: () =>
    admin.post('/worker-pools', { name: 'lost', team_ids: ['019aa5c2-7d31-7cc4-9c55-0d6a1f6c8b11'] }),
  key_not_active: async () => {
    const { api_key: key } = await admin.make('/profile/api-keys', { name: 'once' });
    const path = `/profile/api-keys/${(key as { id: string }).id}`;
    await admin.delete(path);
    return admin.delete(path);
  },
  user_disabled: async () => {
    const user = await api.addUser('maintainer');
    await join(tenant, user, 'admin');
    await admin.put(`/users/${user.id}`, { enabled: false });
    return tenant.owner.post(`${organization()}/transfer`, { new_owner_user_id: user.id });
  },
  draft_unreadable: async () => {
    const { id } = await assemble();
    return tenant.owner.put(`/assemblies/${id}/draft`, { spec: 'nodes: [' });
  },
  draft_missing: async () => {
    const { id } = await assemble();
    return tenant.owner.post(`/assemblies/${id}/publish`, { version: '1.0.0' });
  },
  assembly_invalid: async () => {
    const { id } = await assemble();
    await tenant.owner.put(`/assemblies/${id}/draft`, { spec: {} });
    return tenant.owner.post(`/assemblies/${id}/publish`, { version: '1.0.0' });
  },
  schedule_not_saved: async () => {
    const other = await tenant.owner.make(`/organizations/${tenant.organization}/teams`, { name: 'Receiving' });
    const project = (await tenant.owner.make('/projects', { team_id: tenant.team, name: 'Moving' })).id;
    const place = { project_id: project, name: 'dev', kind: 'development' };
    const environment = (await tenant.owner.make('/environments', place)).id;
    const work = { run: { template_id: (await publish()).id, environment_id: environment } };
    const body = { team_id: tenant.team, name: 'Moving', schedule: { every: '1d' }, work };
    const { id } = await tenant.owner.make('/schedules', body);
    await tenant.owner.post(`/projects/${project}/transfer`, { team_id: other.id });
    return tenant.owner.patch(`/schedules/${id}`, { enabled: true });
  },
  environment_unknown: async () => (await runAssembly({ environment_id: crypto.randomUUID() })).answer,
  instance_without_environment: async () => {
    const { id } = await tenant.owner.make('/instances', { template_id: (await publish()).id, name: 'loose' });
    return tenant.owner.put(`/instances/${id}/readers`, { environment_ids: [tenant.environment] });
  },
  has_dependents: async () => {
    const { instance } = await drifting();
    const reads = JSON.stringify([{ instanceId: instance }]);
    await api.rows('update runs set reads = ? where id = ?', [reads, (await drifting()).run]);
    return tenant.owner.delete(`/instances/${instance}`);
  },
  reference_unresolved: () => run({ variables: { size: '${instances.nowhere/network.outputs.size}' } }),
  nothing_deployed: async () => (await runAssembly({ operation: 'destroy' })).answer,
  assembly_busy: async () => {
    const { path } = await runAssembly();
    await api.rows("update assembly_runs set operation = 'destroy' where id = ?", [path.split('/').at(-1)]);
    return tenant.owner.post(path.replace(/\/[^/]*$/, ''), { environment_id: tenant.environment });
  },
  node_not_deployed: async () => (await runAssembly({ only: ['b'] })).answer,
  assembly_run_not_cancelable: async () => {
    const { path } = await runAssembly();
    await api.rows("update assembly_runs set status = 'failed' where id = ?", [path.split('/').at(-1)]);
    return tenant.owner.post(`${path}/cancel`);
  },
  assembly_run_not_resumable: async () => tenant.owner.post(`${(await runAssembly()).path}/resume`),
  same_owner: () => tenant.owner.post(`/projects/${tenant.project}/transfer`, { team_id: tenant.team }),
  not_in_organization: async () => {
    const stranger = await api.addUser('requester');
    return tenant.owner.put(`${tenant.teamPath}/members/${stranger.id}`, { role: 'member' });
  },
  already_member: () => tenant.owner.post(`${organization()}/invitations`, { email: tenant.owner.email }),
  already_invited: async () => {
    const { email } = await invite();
    return tenant.owner.post(`${organization()}/invitations`, { email });
  },
  account_role_unfit: async () => {
    const { id } = await tenant.owner.make('/service-accounts', {
      name: 'deploy',
      role: 'requester',
      owner: { user_id: tenant.owner.id },
    });
    return tenant.owner.put(`${organization()}/members/${id}`, { role: 'admin' });
  },
  account_of_team: async () => {
    const { id } = await tenant.owner.make('/service-accounts', {
      name: 'deploy',
      role: 'requester',
      owner: { team_id: tenant.team },
    });
    return tenant.owner.put(`${organization()}/members/${id}`, { role: 'member' });
  },
  version_published: async () => {
    const { id } = await publish();
    const other = { executor: { ...executor, apply: [{ name: 'other', run: ['true'] }] } };
    return tenant.owner.post(`/registry/templates/${id}/versions`, { version: '1.0.0', spec: other });
  },
  version_unknown: () => run({ version: '7.0.0' }),
  version_malformed: () => run({ version: 'not a version' }),
  operation_unsupported: () => run({ operation: 'destroy' }),
  option_forbidden: async () => {
    const path = `/environments/${tenant.environment}`;
    await tenant.owner.patch(path, { allowed_options: [] });
    const answer = await run({ options: { parallelism: 2 } }, tofu);
    await tenant.owner.patch(path, { allowed_options: null });
    return answer;
  },
  plan_secrets_required: async () => {
    const path = `/environments/${tenant.environment}`;
    await tenant.owner.put(`${path}/variables/KEY`, { value: 'may-write', category: 'env', sensitive: true });
    await tenant.owner.patch(path, { plan_secrets: 'weaker' });
    const answer = await run({});
    await tenant.owner.patch(path, { plan_secrets: null });
    await tenant.owner.delete(`${path}/variables/KEY`);
    return answer;
  },
  option_unknown: async () => {
    const instance = `by-terraform-${crypto.randomUUID()}`;
    const { id } = await publish(tofu);
    const request = { template_id: id, environment_id: tenant.environment, instance };
    const { body } = await tenant.owner.post('/runs', request);
    await api.rows(`update instances set tool = 'terraform' where id = ?`, [body.instance_id]);
    return tenant.owner.post('/runs', { ...request, options: { exclude: ['a.b'] } });
  },
  address_invalid: () => run({ replace: ["random_pet.p['a key']"] }, tofu),
  address_masked: () => run({ replace: ['terraform_data.a["[redacted]"]'] }, tofu),
  variables_invalid: () => run({ variables: { unknown: 1 } }),
  no_signature: async () => {
    const wanted = { name: 'Chat', kind: 'slack', config: { url: 'http://127.0.0.9:9/' } };
    const { body } = await admin.post('/admin/notification-channels', wanted);
    return admin.post(`/admin/notification-channels/${body.id}/rotate`);
  },
  webhook_disabled: async () => {
    const wanted = { name: 'Chat', url: 'http://127.0.0.9:9/', events: ['*'], enabled: false };
    const { id } = (await admin.post('/admin/webhooks', wanted)).body;
    const delivery = newId();
    await api.rows(
      `insert into webhook_deliveries (id, created_at, webhook_id, event_id, event_type, message_id, status, attempts, due_at)
       values (?, now(), ?, ?, 'run.finished', 'msg_1', 'failed', 9, now())`,
      [delivery, id, newId()],
    );
    return admin.post(`/admin/webhooks/${id}/deliveries/${delivery}/redeliver`);
  },
  connection_unbound: () => run({}, { executor, connections: [{ name: 'unbound', kind: 'git' }] }),
  connection_unfit: async () => {
    await bindSecret('unfit');
    return run({}, { executor, connections: [{ name: 'unfit', kind: 'git' }] });
  },
  connection_conflict: async () => {
    await bindSecret('one', 'other');
    return run({}, { executor, connections: ['one', 'other'].map((name) => ({ name, kind: 'generic' })) });
  },
  connection_elsewhere: async () => {
    const id = await bindSecret('moved');
    await api.rows('update connections set team_id = null where id = ?', [id]);
    await api.rows('update connections set organization_id = ? where id = ?', [
      (await makeTenant(api)).organization,
      id,
    ]);
    return run({}, { executor, connections: [{ name: 'moved', kind: 'generic' }] });
  },
  connection_unauthorized: async () => {
    await bindSecret('orphaned');
    await api.rows('update connection_bindings set bound_by_generation = 0');
    return run({}, { executor, connections: [{ name: 'orphaned', kind: 'generic' }] });
  },
  connection_unknown: () =>
    publishGit({ url: 'https://github.com/acme/network.git', ref: 'main', connection: 'github' }),
  issuer_unknown: () => {
    const config = { provider: 'other', workload_identity: { audience: 'https://api.example.com' } };
    return tenant.owner.post('/admin/connections', { name: 'api', kind: 'cloud', config, team_id: tenant.team });
  },
  signing_key_upcoming: async () => {
    for (let rotation = 0; rotation < 2; rotation += 1) await admin.post('/admin/signing-keys/rotate', {});
    return admin.post('/admin/signing-keys/rotate', {});
  },
  credentials_unavailable: async () => {
    const settings = { config: { url: 'https://1.1.1.1/' }, credentials: { token: 'kept' } };
    const body = { name: 'damaged', kind: 'git', ...settings, team_id: tenant.team };
    await api.rows(`update connections set sealed_key = '' where id = ? returning id`, [
      (await tenant.owner.make('/admin/connections', body)).id,
    ]);
    return publishGit({ url: 'https://1.1.1.1/x.git', ref: 'main', connection: 'damaged' });
  },
  address_refused: () => publishGit({ url: 'https://127.0.0.1/x.git', ref: 'main' }),
  environment_locked: async () => {
    const { environment } = await makeTenant(api);
    await admin.put(`/environments/${environment}/lock`, { reason: 'incident' });
    const second = await api.addUser('admin');
    return second.put(`/environments/${environment}/lock`, { reason: 'test' });
  },
  instance_not_locked: async () => {
    const { body } = await run({ instance: 'unlocked' });
    return admin.post(`/instances/${body.instance_id}/unlock`);
  },
  state_not_forgettable: async () => {
    const { id } = (await run({ instance: 'adopted' })).body;
    const { instance_id: instance } = (await tenant.owner.get(`/runs/${id}`)).body;
    await tenant.owner.post(`/instances/${instance}/state`, { version: 4, serial: 1, lineage: 'a', resources: [] });
    await api.rows('update instances set deployed_run_id = ? where id = ?', [id, instance]);
    return tenant.owner.delete(`/instances/${instance}/state`);
  },
  template_of_other_team: async () => {
    const { id: team } = await tenant.owner.make(`${organization()}/teams`, { name: 'Other' });
    const { id } = await tenant.owner.make('/registry/templates', { name: 'Elsewhere', team_id: team });
    return tenant.owner.post('/runs', { template_id: id, environment_id: tenant.environment });
  },
  last_owner: () => tenant.owner.delete(`${organization()}/members/${tenant.owner.id}`),
  stale_revision: () => tenant.owner.patch(organization(), { name: 'Other', expected_revision: 99 }),
  archived: async () => {
    const { id } = await tenant.owner.make('/projects', { team_id: tenant.team, name: 'Old' });
    await tenant.owner.post(`/projects/${id}/archive`);
    return tenant.owner.post('/environments', { project_id: id, name: 'Late', kind: 'staging' });
  },
  run_not_cancelable: async () => {
    const id = await admitted();
    await tenant.owner.post(`/runs/${id}/cancel`, { force: true });
    return tenant.owner.post(`/runs/${id}/cancel`);
  },
  drift_monitor_exists: async () => {
    const body = { environment_id: tenant.environment, schedule: { every: 'PT6H' } };
    await tenant.owner.post('/drift-monitors', body);
    return tenant.owner.post('/drift-monitors', body);
  },
  drift_monitor_inherited: async () => {
    const { monitor } = await drifting();
    await api.rows('update drift_monitors set inherited_from = id where id = ?', [monitor]);
    return tenant.owner.delete(`/drift-monitors/${monitor}`);
  },
  drift_monitor_scans_nothing: async () => {
    const { monitor } = await drifting();
    await api.rows(`update drift_monitors set scope = 'template' where id = ?`, [monitor]);
    return tenant.owner.post(`/drift-monitors/${monitor}/scan`);
  },
  drift_scan_running: async () => {
    const { monitor, run: scan } = await drifting();
    await addScan((sql, values) => api.rows(sql, values), { run: scan, monitor });
    return tenant.owner.post(`/drift-monitors/${monitor}/scan`);
  },
  drift_finding_resolved: async () => {
    const { finding, evidence } = await drifting();
    await api.rows(`update drift_findings set status = 'resolved' where id = ?`, [finding]);
    const until = new Date(Date.now() + 3600_000).toISOString();
    return tenant.owner.post(`/drift-findings/${finding}/suppress`, { evidence_id: evidence, reason: 'a test', until });
  },
  drift_finding_not_suppressed: async () =>
    tenant.owner.post(`/drift-findings/${(await drifting()).finding}/reopen`, { reason: 'a test' }),
  remediation_running: async () => {
    const { finding, evidence } = await drifting();
    const body = { evidence_id: evidence, expected_revision: 1, direction: 'revert' };
    const path = `/drift-findings/${finding}/remediation`;
    expect((await tenant.owner.post(path, body)).status).toBe(202);
    return tenant.owner.post(path, body);
  },
  evidence_stale: async () => {
    const { finding, evidence } = await drifting();
    await api.rows(
      'update instances set state_serial = 2 where id in (select instance_id from drift_findings where id = ?)',
      [finding],
    );
    const body = { evidence_id: evidence, expected_revision: 1, direction: 'revert' };
    return tenant.owner.post(`/drift-findings/${finding}/remediation`, body);
  },
  run_not_pending_approval: async () => tenant.owner.post(`/runs/${await admitted()}/approval/request`, {}),
  run_not_requeueable: async () => tenant.owner.post(`/runs/${await admitted()}/requeue`),
  run_not_copyable: async () => tenant.owner.post(`/runs/${await admitted()}/copy`, {}),
  run_not_deletable: async () => admin.delete(`/runs/${await admitted()}`),
  run_not_undoable: async () =>
    tenant.owner.post(`/runs/${await admitted()}/selective-undo/check`, undefined, withKey()),
  undo_check_running: async () => {
    const { run } = await drifting();
    await api.rows('update runs set state_serial_after = 1 where id = ?', [run]);
    for (let check = 0; check < 3; check += 1) await undo('checking', run);
    return tenant.owner.post(`/runs/${run}/selective-undo/check`, undefined, withKey());
  },
  undo_not_ready: async () => tenant.owner.post(`/selective-undo/${await undo('blocked')}/candidate-checks`),
  stale: async () => tenant.owner.post(`/selective-undo/${await undo('ready')}/candidate-checks`),
  collateral_not_accepted: async () =>
    tenant.owner.post(`/selective-undo/${await undo('promotable')}/promote`, {
      candidate_digest: 'x',
      accepted_collateral: ['thing.a'],
    }),
  in_use: () => tenant.owner.delete(`/projects/${tenant.project}`, { 'idempotency-key': crypto.randomUUID() }),
};

/** The codes that name no rule. */
const general: ErrorCode[] = [
  'invalid_request',
  'unauthenticated',
  'permission_denied',
  'not_found',
  'method_not_allowed',
  'not_acceptable',
  'conflict',
  'too_large',
  'unsupported_media_type',
  'wrong_host',
  'unprocessable',
  'rate_limited',
  'internal_error',
  'unavailable',
];

/** The codes of rules without a row above. Add none: a new code gets a row in `refusals`, and so may these. */
const withoutRow: ErrorCode[] = [
  'idempotency_key_reused',
  'concurrent_change',
  'limit_reached',
  'email_unverified',
  'schema_too_costly',
  'assembly_too_costly',
  'evaluation_budget_exhausted',
  'reviewers_ineligible',
  'already_reviewed',
  'approval_complete',
  'approval_expired',
  'plan_moved',
  'self_approval',
  'instance_occupied',
  'nothing_to_run_for',
  'pool_closed',
  'already_bootstrapped',
  'key_not_rotatable',
  'key_rotated',
  'owner_role_too_weak',
  'invitation_accepted',
  'invitation_revoked',
  'invitation_expired',
  'invitation_void',
  'pool_without_rules',
  'email_confirmed',
  'state_too_large',
  'state_unusable',
  'template_gone',
  'state_exists',
  'instance_busy',
  'host_unknown',
  'url_unsupported',
  'source_unreadable',
  'source_credential_unfit',
  'source_ref_missing',
  'source_ref_ambiguous',
  'source_path_missing',
  'source_file_unusable',
  'source_too_large',
];

/** The codes whose rules another test breaks, and compares. */
const elsewhere: Readonly<Record<string, string>> = {
  key_ring_unusable: 'test/local/start-services.test.ts',
  plugin_root_missing: 'test/api/plugins/restoration.test.ts',
};

describe('a broken rule', () => {
  it.each([...Object.keys(refusals), ...Object.keys(pluginRefusals)])('has the error code %s', async (code) => {
    const answer = await (refusals[code]?.() ?? pluginRefusals[code]!(api));
    expect(Object(answer.headers)['x-error-code'], answer.text).toBe(code);
    expect([400, 403, 409, 422, 429]).toContain(answer.status);
  });

  it('has a test for every code, except the codes in a list', () => {
    const shown = [refusals, pluginRefusals, elsewhere].flatMap((codes) => Object.keys(codes));
    const known = [...shown, ...general, ...withoutRow];
    expect(known.sort()).toEqual(Object.keys(errorCodes).sort());
    expect(withoutRow.length).toBeLessThanOrEqual(40);
  });

  it('has no code that the service never uses', () => {
    const sources = readdirSync('src', { recursive: true, withFileTypes: true })
      .filter(
        (entry) => entry.isFile() && entry.name.endsWith('.ts') && !['area.ts', 'error-codes.ts'].includes(entry.name),
      )
      .map((entry) => readFileSync(joinPath(entry.parentPath, entry.name), 'utf8'))
      .join('\n');
    // The status of an invitation completes these.
    const composed = /^invitation_(expired|revoked|void)$/;
    const unused = Object.keys(errorCodes).filter((code) => !composed.test(code) && !sources.includes(`'${code}'`));
    expect(unused).toEqual([]);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '#api/operations.ts';
import type { CommandOperation } from '#api/pipeline/operation.ts';
import { eventTypes } from '#domain/events.ts';
import type { EventType } from '#domain/shared/events/event-type.ts';
import { addPerson } from '#test/support/access/people.ts';
import { requestOf } from '#test/support/api/command-requests.ts';
import { bootstrapToken, type SetupApi } from '#test/support/api/command-setups.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { ask, type Request } from '#test/support/api/operation-requests.ts';
import { mergeDeclared } from '#test/support/areas/declared.ts';

/** The expected status of every command, and its `Location` if it has one. This table and the declarations of areas are written by hand. */
const answers: Readonly<Record<string, readonly [status: number, location?: string]>> = {
  ...mergeDeclared('answers'),
  'bootstrap.admin': [201],
  'auth.sign_in': [201, '/api/v1/auth/sessions/:id'],
  'auth.sign_out': [204],
  'auth.reset_password': [204],
  'profile.change_password': [200],
  'profile.create_api_key': [201, '/api/v1/profile/api-keys/:id'],
  'profile.rotate_api_key': [201, '/api/v1/profile/api-keys/:id'],
  'profile.regenerate_api_key': [201, '/api/v1/profile/api-keys/:id'],
  'profile.revoke_api_key': [204],
  'users.create': [201, '/api/v1/users/:id'],
  'users.update': [200],
  'users.delete': [204],
  'users.reset_password': [201],
  'users.confirm_email': [200],
  'users.issue_email_confirmation': [201],
  'profile.confirm_email': [200],
  'service_accounts.create': [201, '/api/v1/service-accounts/:id'],
  'service_accounts.update': [200],
  'service_accounts.enable': [200],
  'service_accounts.disable': [200],
  'service_accounts.transfer': [200],
  'service_accounts.delete': [204],
  'service_account_keys.create': [201, '/api/v1/service-accounts/:id/api-keys/:keyID'],
  'service_account_keys.rotate': [201, '/api/v1/service-accounts/:id/api-keys/:keyID'],
  'service_account_keys.revoke': [204],
  'organizations.create': [201, '/api/v1/organizations/:id'],
  'organizations.update': [200],
  'organizations.archive': [200],
  'organizations.unarchive': [200],
  'organizations.transfer': [200],
  'organizations.delete': [204],
  'organization_members.set': [200],
  'organization_members.remove': [204],
  'organization_invitations.create': [201, '/api/v1/organizations/:orgID/invitations/:id'],
  'organization_invitations.resend': [200, '/api/v1/organizations/:orgID/invitations/:id'],
  'organization_invitations.revoke': [204],
  'teams.create': [201, '/api/v1/organizations/:orgID/teams/:id'],
  'teams.update': [200],
  'teams.archive': [200],
  'teams.unarchive': [200],
  'teams.transfer': [200],
  'teams.delete': [204],
  'team_members.set': [200],
  'team_members.remove': [204],
  'team_invitations.create': [201, '/api/v1/organizations/:orgID/teams/:id/invitations/:invitationID'],
  'team_invitations.resend': [200, '/api/v1/organizations/:orgID/teams/:id/invitations/:invitationID'],
  'team_invitations.revoke': [204],
  'invitations.accept': [200],
  'projects.create': [201, '/api/v1/projects/:id'],
  'projects.update': [200],
  'projects.archive': [200],
  'projects.unarchive': [200],
  'projects.transfer': [200],
  'projects.delete': [204],
  'environments.create': [201, '/api/v1/environments/:id'],
  'environments.update': [200],
  'environments.archive': [200],
  'environments.unarchive': [200],
  'environments.delete': [204],
  'environments.lock': [200],
  'environments.unlock': [204],
  'environments.set_freeze_windows': [200],
  'signing_keys.rotate': [200],
  'quotas.set': [200],
  'quotas.clear': [204],
  'quotas.recount': [200],
  'apply_pause.set': [200],
  'apply_pause.end': [204],
  'settings.update': [200],
  'environment_variables.set': [200],
  'environment_variables.replace': [200],
  'environment_variables.remove': [204],
  'templates.create': [201, '/api/v1/registry/templates/:id'],
  'templates.update': [200, '/api/v1/registry/templates/:id'],
  'templates.archive': [200, '/api/v1/registry/templates/:id'],
  'templates.unarchive': [200, '/api/v1/registry/templates/:id'],
  'templates.delete': [204],
  'drift_monitors.create': [201, '/api/v1/drift-monitors/:newId'],
  'drift_monitors.update': [200, '/api/v1/drift-monitors/:id'],
  'drift_monitors.delete': [204],
  'drift_monitors.scan': [202, '/api/v1/runs/:newId'],
  'drift_monitors.set_ignore_rules': [200, '/api/v1/drift-monitors/:id/ignore-rules'],
  'drift_findings.suppress': [200, '/api/v1/drift-findings/:id'],
  'drift_findings.suppress_many': [200],
  'drift_findings.reopen': [200, '/api/v1/drift-findings/:id'],
  'drift_findings.remediate': [202, '/api/v1/runs/:newId'],
  'connections.create': [201, '/api/v1/admin/connections/:newId'],
  'connections.update': [200, '/api/v1/admin/connections/:id'],
  'connections.rotate': [200, '/api/v1/admin/connections/:id'],
  'connections.test': [200],
  'connections.delete': [204],
  'project_connections.replace': [200],
  'environment_connections.replace': [200],
  'notification_preferences.replace': [200],
  'notifications.read': [200, '/api/v1/notifications/:id'],
  'notifications.put_away': [200, '/api/v1/notifications/:id'],
  'notifications.take_back': [200, '/api/v1/notifications/:id'],
  'notifications.read_all': [200],
  'notification_threads.read': [200],
  'notification_threads.put_away': [200],
  'notification_channels.create': [201, '/api/v1/admin/notification-channels/:id'],
  'notification_channels.update': [200, '/api/v1/admin/notification-channels/:id'],
  'notification_channels.delete': [204],
  'notification_channels.test': [200],
  'notification_channels.rotate': [200, '/api/v1/admin/notification-channels/:id'],
  'assemblies.create': [201, '/api/v1/assemblies/:id'],
  'assemblies.update': [200, '/api/v1/assemblies/:id'],
  'assemblies.archive': [200, '/api/v1/assemblies/:id'],
  'assemblies.unarchive': [200, '/api/v1/assemblies/:id'],
  'assemblies.delete': [204],
  'assemblies.save_draft': [200, '/api/v1/assemblies/:id/draft'],
  'assemblies.publish': [201, '/api/v1/assemblies/:id/versions/2.0.0'],
  'assemblies.run': [202, '/api/v1/assemblies/:id/runs/:newId'],
  'assemblies.cancel_run': [202, '/api/v1/assemblies/:id/runs/:runID'],
  'assemblies.resume_run': [202, '/api/v1/assemblies/:id/runs/:runID'],
  'assemblies.approve_node': [200, '/api/v1/assemblies/:id/runs/:runID/nodes/hello'],
  'template_versions.publish': [201, '/api/v1/registry/templates/:id/versions/2.0.0'],
  'template_versions.yank': [200, '/api/v1/registry/templates/:id/versions/1.0.0'],
  'template_versions.run': [202, '/api/v1/runs/:id'],
  'runs.create': [202, '/api/v1/runs/:id'],
  'runs.cancel': [202, '/api/v1/runs/:id'],
  'runs.requeue': [202, '/api/v1/runs/:id'],
  'runs.copy': [202, '/api/v1/runs/:id'],
  'runs.request_approval': [202, '/api/v1/runs/:id'],
  'runs.review': [200, '/api/v1/runs/:id'],
  'runs.check_selective_undo': [202, '/api/v1/selective-undo/:newId'],
  'selective_undo.check_candidate': [202, '/api/v1/selective-undo/:id'],
  'selective_undo.promote': [202, '/api/v1/runs/:newId'],
  'runs.delete': [204],
  'instances.create': [201, '/api/v1/instances/:id'],
  'instances.delete': [204],
  'run_comments.create': [201, '/api/v1/runs/:id/comments/:commentID'],
  'instances.import_state': [201, '/api/v1/instances/:id/state-versions/1'],
  'instances.forget_state': [204],
  'instances.set_readers': [200, '/api/v1/instances/:id/readers'],
  'instances.set_follow': [200, '/api/v1/instances/:id/follow'],
  'instances.switch_tool': [202, '/api/v1/runs/:newId'],
  'instances.unlock': [200, '/api/v1/instances/:id'],
  'plugin_installations.create': [201, '/api/v1/plugin-installations/:id'],
  'plugin_installations.delete': [200, '/api/v1/plugin-installations/:id'],
  'plugin_installations.stage_manifest': [200, '/api/v1/plugin-installations/:id'],
  'plugin_installations.activate': [200, '/api/v1/plugin-installations/:id'],
  'plugin_installations.replace_ceiling': [200, '/api/v1/plugin-installations/:id/ceiling'],
  'plugin_action_grants.create': [201, '/api/v1/plugin-action-grants/:id'],
  'plugin_action_grants.revoke': [200, '/api/v1/plugin-action-grants/:id'],
  'plugin_background_principals.approve': [201, '/api/v1/plugin-background-principals/:id'],
  'plugin_background_principals.revoke': [200, '/api/v1/plugin-background-principals/:id'],
  'plugin_resources.create': [201, '/api/v1/plugin-resources/:id'],
  'plugin_resources.delete': [200, '/api/v1/plugin-resources/:id'],
  'plugin_resources.restore': [200, '/api/v1/plugin-resources/:id'],
  'worker_pools.create': [201, '/api/v1/worker-pools/:name'],
  'worker_pools.update': [200],
  'worker_pools.delete': [204],
  'workers.drain': [202, '/api/v1/workers/:id'],
};

/** The subject of these events is the installation, which the audit does not name as a resource. */
const ofInstallation = /^(installation\.|settings\.changed$)/;

const coveringTypes = (action: string) =>
  Object.entries<EventType>(eventTypes)
    .filter(([, { covers = [] }]) => covers.includes(action))
    .map(([type]) => type);

type Answer = Awaited<ReturnType<typeof ask>>;

const commands = operations.filter((operation): operation is CommandOperation => operation.kind === 'command');

let api: TestApi;
let empty: TestApi;
let stage: SetupApi;
let emptyStage: SetupApi;

beforeAll(async () => {
  api = await startApi();
  empty = await startApi({ ENABLE_ADMIN_BOOTSTRAP: 'true', ADMIN_BOOTSTRAP_TOKEN: bootstrapToken });
  const place = { url: await api.app.listen({ port: 0 }), orm: api.services.orm };
  stage = { ...place, root: await addPerson(place, 'admin') };
  emptyStage = { ...stage, url: await empty.app.listen({ port: 0 }), orm: empty.services.orm };
});
afterAll(async () => {
  await api?.close();
  await empty?.close();
});

async function carryOut(operation: CommandOperation) {
  const at = operation.id === 'bootstrap.admin' ? emptyStage : stage;
  const request = await requestOf(at, operation);
  return { request, answer: await ask(at, operation, request) };
}

/** Reads an address with the credential of a request. */
async function readAt(location: string, { key, headers }: { key?: string | undefined; headers?: object }) {
  const response = await fetch(stage.url + location, { headers: { ...(key && { 'x-api-key': key }), ...headers } });
  return { status: response.status, text: await response.text() };
}

/** The credential that a command created, for commands that end the caller's old one. */
function madeCredential(text: string) {
  const { key, token, session_id: session } = text ? JSON.parse(text) : {};
  return /^dc_/.test(key) ? { key } : session ? { headers: { authorization: `Bearer ${token}` } } : {};
}

const pattern = (route: string) => new RegExp(`^${route.replaceAll('.', '\\.').replace(/:\w+/g, '[^/]+')}$`);

describe('a successful command', () => {
  it('has an entry in the table of answers', () => {
    expect(Object.keys(answers).sort()).toEqual(commands.map(({ id }) => id).sort());
  });

  it.each(commands.map((operation) => [operation.id, operation] as const))(
    'of %s answers its status and the location of its result, even if it is repeated',
    async (id, operation) => {
      const [status, location] = answers[id]!;
      const { request, answer } = await carryOut(operation);
      expect(answer.status, answer.text).toBe(status);
      if (location === undefined) expect(answer.location).toBeNull();
      else expect(answer.location).toMatch(pattern(location));
      if (status === 204) expect(answer.text).toBe('');
      const reader = id.startsWith('service_account_keys') ? request : { ...request, ...madeCredential(answer.text) };
      if (answer.location) expect((await readAt(answer.location, reader)).status, answer.location).toBe(200);
      if (operation.idempotency === 'none') return;
      await expectRepeated(operation, request, answer);
      // The previous release had no commands that answer their receipts.
      if (!operation.answersReceipt) await expectRepeatedByOldReceipt(operation, request, answer);
    },
  );

  it('publishes an event for each record of the audit', async () => {
    const read = new Set(operations.filter(({ kind }) => kind === 'read').map(({ audit }) => audit));
    const records = await api.rows<{ id: string; action: string; resource: string | null }>(
      "select id, action, resource_id as resource from audit_records where outcome = 'committed'",
    );
    const events = await api.rows<{ type: string; kind: string; subject: string; data: Record<string, unknown> }>(
      'select type, subject_kind as kind, subject_id as subject, data from domain_events',
    );
    const heard = new Set(
      events.flatMap(({ type, subject, data }) => [
        data['audit_record_id'],
        // A comment or a run that follows has its own record, and an event of the run or of what it was started for.
        ...[subject, ...Object.values(data)].map((id) => `${type} ${id}`),
      ]),
    );
    const published = new Set(events.map(({ type }) => type));
    const silent = records.filter(({ id, action, resource }) => {
      const types = [action, ...coveringTypes(action)];
      const isHeard = types.some(
        (type) => heard.has(`${type} ${resource}`) || (ofInstallation.test(type) && published.has(type)),
      );
      return !read.has(action) && !heard.has(id) && !isHeard;
    });
    expect([...new Set(silent.map(({ action }) => action))]).toEqual([]);
    expect(records.length).toBeGreaterThan(commands.length / 2);
  });

  /** The previous release stored only the status and the address of an answer. */
  async function expectRepeatedByOldReceipt(
    operation: CommandOperation,
    request: Request,
    { status, location }: Answer,
  ): Promise<void> {
    const key = request.headers?.['idempotency-key'];
    const rows = await api.rows<{ status: number; location: string | null }>(
      'update command_receipts set answer = null where key = ? returning status, location',
      [key],
    );
    expect(rows).toEqual([{ status, location }]);
    await expectRepeated(operation, request, { status, location, text: '' });
    const outcome = JSON.parse((await readAt('/api/v1/commands/outcome', request)).text);
    expect(outcome.receipt).toMatchObject({ key, status, location });
  }

  /** A repeated command answers its receipt again, or the body that is read at its address now. */
  async function expectRepeated(operation: CommandOperation, request: Request, first: Answer): Promise<unknown> {
    const repeated = await ask(stage, operation, request);
    expect([repeated.status, repeated.location]).toEqual([first.status, first.location]);
    if (operation.answersReceipt) return expect(repeated.text).toBe(first.text);
    const today = first.location ? await readAt(first.location, request) : { text: '' };
    expect(repeated.text).toBe(today.text);
  }
});

describe('the publication of a version', () => {
  const publish = commands.find(({ id }) => id === 'template_versions.publish')!;

  it('answers 201 the first time and 200 for the same version again, with the same location', async () => {
    const { request, answer } = await carryOut(publish);
    const again = await ask(stage, publish, request);
    expect([answer.status, again.status]).toEqual([201, 200]);
    expect(again.location).toBe(answer.location);
    expect(again.text).toBe(answer.text);
  });
});

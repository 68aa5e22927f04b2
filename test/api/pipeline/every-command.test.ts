import pino from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { edgeLogOptions } from '#api/edge/log-options.ts';
import { operations } from '#api/operations.ts';
import { resourceTypeOf } from '#api/pipeline/audit/audited-resource.ts';
import { actionOf } from '#api/pipeline/audit/auditing.ts';
import type { CommandOperation } from '#api/pipeline/operation.ts';
import { newId } from '#domain/shared/ids.ts';
import { addPerson } from '#test/support/access/people.ts';
import { permissionsOf } from '#test/support/access/permission-table.ts';
import { fillSecrets, secretsIn } from '#test/support/access/secret-fields.ts';
import { requestOf } from '#test/support/api/command-requests.ts';
import { bootstrapToken, type SetupApi } from '#test/support/api/command-setups.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { ask, type Request } from '#test/support/api/operation-requests.ts';
import type { Ids } from '#test/support/api/tenant-ids.ts';
import { mergeDeclared } from '#test/support/areas/declared.ts';

/**
 * Runs every command with a secret in each secret field: once while audit records cannot be written, and once while they
 * can. A new operation that fails here needs a setup (test/support/api/command-setups.ts), a body, or `resource` in its
 * declaration.
 */
const commands = operations.filter((operation): operation is CommandOperation => operation.kind === 'command');

const lines: string[] = [];
/** All secrets, with the place where each was used. */
const secrets = new Map<string, string>();
let api: TestApi;
let empty: TestApi;
let stage: SetupApi;
let emptyStage: SetupApi;

beforeAll(async () => {
  const log = pino({ level: 'trace', ...edgeLogOptions }, { write: (line: string) => void lines.push(line) });
  api = await startApi({}, log);
  empty = await startApi({ ENABLE_ADMIN_BOOTSTRAP: 'true', ADMIN_BOOTSTRAP_TOKEN: bootstrapToken }, log);
  for (const each of [api, empty]) await each.rows(`create table audit_is_broken (broken boolean)`);
  for (const each of [api, empty]) await each.rows(breakable);
  for (const each of [api, empty])
    await each.rows(
      `create trigger breakable before insert on audit_records for each row execute function refuse_audit()`,
    );
  const place = { url: await api.app.listen({ port: 0 }), orm: api.services.orm };
  stage = { ...place, root: await addPerson(place, 'admin') };
  emptyStage = { ...stage, url: await empty.app.listen({ port: 0 }), orm: empty.services.orm };
});
afterAll(async () => {
  await api?.close();
  await empty?.close();
});

/** Commands on resources without owners: users, their credentials, and the whole installation. */
const ownerless =
  /^(apply_pause|settings|notifications|notification_threads|notification_preferences|signing_keys|bootstrap|auth|profile|users|workers|worker_pools|invitations|organizations\.create$)/;
/** Commands that move their resource from one team or organization to another. */
const isTransfer = (id: string) => /^(projects|teams)\.transfer$/.test(id);
const isRefusedByPath = ({ access, params }: CommandOperation) =>
  params !== undefined && 'anyOf' in access && !access.anyOf.some((each) => permissionsOf('requester').includes(each));
const isOfOrganization = (id: string) => /^(organization|teams\.create$)/.test(id);
const makesTeams = (id: string) => /^(teams\.|projects\.transfer)/.test(id);

/** Commands that create what they are recorded for, or take it from their body: their path names no such resource. */
const creates = /\.(create|approve|publish|run|check_selective_undo|promote|scan|remediate|suppress_many|switch_tool)$/;
/** Commands that replace the resource that their path names by a new one. */
const replaces: Readonly<Record<string, keyof Ids>> = {
  ...mergeDeclared('replaces'),
  'runs.requeue': 'run',
  'runs.copy': 'run',
  'service_account_keys.rotate': 'accountKey',
};

/** The id of the resource that a request names, of which `committed` is the id in the record of its success. */
function namedResource({ id }: CommandOperation, ids: Ids, committed: string | null | undefined) {
  if (creates.test(id)) return null;
  return replaces[id] ? ids[replaces[id]] : committed;
}

/** A workflow carries them out: what is left of a failure is that they are tried again (`test/api/plugins/restoration.test.ts`). */
const workflowCommands = new Set(['plugin_resources.restore']);

const breakable = `create function refuse_audit() returns trigger language plpgsql as $$
begin
  if exists (select 1 from audit_is_broken where broken) then raise 'the audit is broken'; end if;
  return new;
end $$`;

async function whileBroken<T>({ services }: TestApi, work: () => Promise<T>): Promise<T> {
  await services.orm.em.execute('insert into audit_is_broken values (true)');
  try {
    return await work();
  } finally {
    await services.orm.em.execute('delete from audit_is_broken');
  }
}

/** A digest of every table, except those that change without commands: uses of API keys, and rate counts. */
async function contents({ services }: TestApi): Promise<Record<string, string>> {
  const em = services.orm.em.fork();
  const tables = await em.execute<{ name: string }[]>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'
        and not relispartition and relname not in ('audit_is_broken', 'api_key_uses', 'rate_counts') order by 1`,
  );
  const parts = [...tables.map(({ name }) => name), 'audit_records', 'run_log_chunks'].map(
    (name) =>
      `select '${name}' as name, coalesce(sum(hashtextextended(t::text, 0)), 0)::text as digest from "${name}" t`,
  );
  const rows = await em.execute<{ name: string; digest: string }[]>(parts.join(' union all '));
  return Object.fromEntries(rows.map(({ name, digest }) => [name, digest]));
}

/** A request with which the command succeeds, with a secret in every secret field. */
async function prepare(operation: CommandOperation): Promise<Request> {
  const request = await requestOf(operation.id === 'bootstrap.admin' ? emptyStage : stage, operation);
  const { key, headers = {} } = request;
  const credentials = Object.entries(headers).filter(([name]) => name !== 'idempotency-key');
  for (const [name, value] of credentials) secrets.set(value.replace('Bearer ', ''), `${operation.id} ${name}`);
  if (key) secrets.set(key, `${operation.id} x-api-key`);
  return { ...request, body: withSecrets(operation, request.body) };
}

/** The organization of the target after the command. A transfer moves its target to another one. */
async function organizationAfter(id: string, { ids, body = '{}' }: Request): Promise<string | undefined> {
  const destination = isTransfer(id) ? JSON.parse(body) : {};
  if (!destination.team_id) return destination.organization_id ?? ids.organization;
  const [row] = await api.rows<{ id: string }>('select organization_id as id from teams where id = ?', [
    destination.team_id,
  ]);
  return row?.id;
}

function withSecrets(operation: CommandOperation, body: string | undefined): string | undefined {
  if (body === undefined) return undefined;
  const filled = fillSecrets(operation.body, JSON.parse(body), (field) => `secret-of-${field}-${newId()}`);
  const marked = JSON.stringify(filled.body).match(/secret-of-[\w.-]+/g) ?? [];
  for (const secret of [...filled.secrets, ...marked]) secrets.set(secret, operation.id);
  return JSON.stringify(filled.body);
}

describe('every command', () => {
  it.each(commands.map((operation) => [operation.id, operation] as const))(
    '%s has no effect without its audit record, which names the resource and its owners',
    async (id, operation) => {
      const at = id === 'bootstrap.admin' ? empty : api;
      const { url } = at === empty ? emptyStage : stage;
      const request = await prepare(operation);
      if (!workflowCommands.has(id)) await expectNoEffect(at, url, operation, request);

      const isOwned = !ownerless.test(id);
      const refused = isOwned ? await refuse(operation, request) : 0;
      const done = await ask({ url }, operation, request);
      expect(done.status, done.text).toBeGreaterThanOrEqual(200);
      expect(done.status, done.text).toBeLessThan(300);
      for (const secret of secretsIn(done.text ? JSON.parse(done.text) : {}))
        secrets.set(secret, `the answer of ${id}`);
      const rows = await at.rows<{ action: string }>(
        `select action, resource_type, outcome from audit_records order by at desc, id desc limit 1`,
      );
      const [action, type] = [actionOf(operation), resourceTypeOf(operation)];
      expect(rows).toEqual([{ action, resource_type: type, outcome: 'committed' }]);
      if (isOwned) await expectOwners(operation, request, refused);
    },
  );

  async function expectNoEffect(
    at: TestApi,
    url: string,
    operation: CommandOperation,
    request: Request,
  ): Promise<void> {
    const before = await contents(at);
    const broken = await whileBroken(at, () => ask({ url }, operation, request));
    expect([500, 503], broken.text).toContain(broken.status);
    expect(broken.text).not.toContain('audit');
    expect(await contents(at)).toEqual(before);
  }

  /** Lets callers be refused: one lacks the permission, the other may not read the target. Returns how many there were. */
  async function refuse(operation: CommandOperation, request: Request): Promise<number> {
    // Only a path names a target without its body.
    const callers = isRefusedByPath(operation) ? (['requester', 'maintainer'] as const) : (['maintainer'] as const);
    for (const role of callers) {
      const refused = await ask(stage, operation, { ...request, key: (await addPerson(stage, role)).key });
      expect([400, 403, 404], refused.text).toContain(refused.status);
    }
    return callers.length;
  }

  async function expectOwners(operation: CommandOperation, request: Request, refused: number): Promise<void> {
    const { id } = operation;
    const rows = await api.rows<Record<string, string | null>>(
      `select outcome, resource_type, resource_id, organization_id, team_id from audit_records where action = ? order by at desc, id desc limit ?`,
      [actionOf(operation), refused + (isTransfer(id) ? 2 : 1)],
    );
    const { team } = request.ids;
    const organizations = { refused: request.ids.organization, committed: await organizationAfter(id, request) };
    // A transfer is recorded with the former owners as well.
    const former = rows.findIndex(
      (row) => row['outcome'] === 'committed' && row['organization_id'] === organizations.refused,
    );
    if (isTransfer(id)) expect(rows.splice(former, 1)).toHaveLength(1);
    const [committed, ...refusals] = rows;
    expect(committed?.['outcome']).toBe('committed');
    expect(refusals).toHaveLength(refused);
    for (const { outcome, resource_type, resource_id } of refusals) {
      expect([outcome, resource_type]).toEqual(['refused', committed?.['resource_type']]);
      expect(resource_id).toBe(namedResource(operation, request.ids, committed?.['resource_id']));
    }
    for (const { outcome, organization_id, team_id } of rows) {
      expect(organization_id).toBe(organizations[outcome as 'refused' | 'committed']);
      if (!isOfOrganization(id)) expect(team_id).not.toBeNull();
      if (team_id !== null && !makesTeams(id)) expect(team_id).toBe(team);
    }
  }

  it('leaves no secret in the audit, in receipts, in messages to the engine, or in the log', async () => {
    expect(secrets.size).toBeGreaterThan(commands.length / 4);
    const kept: Record<string, string> = { log: lines.join('\n') };
    for (const each of [api, empty]) {
      for (const table of ['audit_records', 'command_receipts', 'outbox', 'domain_events']) {
        const rows = await each.rows<{ text: string }>(`select t::text as text from ${table} t`);
        kept[table] = `${kept[table] ?? ''}${rows.map(({ text }) => text).join('\n')}`;
      }
      kept['engineMessages'] = `${kept['engineMessages'] ?? ''}${JSON.stringify(each.engineMessages)}`;
    }
    expect(kept['log']).toContain('the audit is broken');
    const leaks = [...secrets].flatMap(([secret, where]) =>
      Object.entries(kept)
        .filter(([, text]) => text.includes(secret) || text.includes(JSON.stringify(secret).slice(1, -1)))
        .map(([name]) => `${where}: ${secret} is in ${name}`),
    );
    expect(leaks).toEqual([]);
  });
});

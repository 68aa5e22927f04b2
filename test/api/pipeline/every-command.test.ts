import pino from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { edgeLogOptions } from '#api/edge/log-options.ts';
import { operations } from '#api/operations.ts';
import { resourceTypeOf } from '#api/pipeline/audit/audited-resource.ts';
import { actionOf } from '#api/pipeline/audit/auditing.ts';
import type { CommandOperation } from '#api/pipeline/operation.ts';
import { eventTypes } from '#domain/events.ts';
import type { EventType } from '#domain/shared/events/event-type.ts';
import { newId } from '#domain/shared/ids.ts';
import { addPerson } from '#test/support/access/people.ts';
import { permissionsOf } from '#test/support/access/permission-table.ts';
import { fillSecrets, secretsIn } from '#test/support/access/secret-fields.ts';
import { demandOf, isOwned, membershipsFor, weakest } from '#test/support/access/weakest.ts';
import { answers } from '#test/support/api/command-answers.ts';
import { requestOf } from '#test/support/api/command-requests.ts';
import { bootstrapToken, type SetupApi } from '#test/support/api/command-setups.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { ask, type OperationAnswer, type Request } from '#test/support/api/operation-requests.ts';
import type { Ids } from '#test/support/api/tenant-ids.ts';
import { mergeDeclared } from '#test/support/areas/declared.ts';

/**
 * Stages each command once, with a secret in each secret field and the weakest caller who may use it. Sends it while audit records cannot
 * be written, then while they can, and then again. A new operation that fails here needs a setup (test/support/api/command-setups.ts), a
 * body, an answer (test/support/api/command-answers.ts), or `resource` in its declaration.
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
  for (const each of [api, empty]) for (const made of breakable) await each.rows(made);
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

/** Returns a digest of every table, except those that change without commands: uses of API keys, and rate counts. */
const digestTables = `create function digest_tables() returns jsonb language plpgsql as $$
declare name text; digest text; digests jsonb := '{}';
begin
  for name in select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
      and not relispartition and relname not in ('audit_is_broken', 'api_key_uses', 'rate_counts') loop
    execute format('select sum(hashtextextended(t::text, 0))::text from %I t', name) into digest;
    digests := digests || jsonb_build_object(name, digest);
  end loop;
  return digests;
end $$`;

/** What the tests add to a database. */
const breakable = [
  'create table audit_is_broken (broken boolean)',
  `create function refuse_audit() returns trigger language plpgsql as $$
    begin
      if exists (select 1 from audit_is_broken where broken) then raise 'the audit is broken'; end if;
      return new;
    end $$`,
  'create trigger breakable before insert on audit_records for each row execute function refuse_audit()',
  digestTables,
];

async function whileBroken<T>({ services }: TestApi, work: () => Promise<T>): Promise<T> {
  await services.orm.em.execute('insert into audit_is_broken values (true)');
  try {
    return await work();
  } finally {
    await services.orm.em.execute('delete from audit_is_broken');
  }
}

/** A digest of every table. */
async function contents({ services }: TestApi): Promise<unknown> {
  const [row] = await services.orm.em.fork().execute<{ digests: unknown }[]>('select digest_tables() as digests');
  return row?.digests;
}

/** The weakest caller who may send them does not reach what their bodies name: `operations.test.ts` asks for less. */
const beyondWeakest = /^team_invitations\.|\.transfer$/;

/** A request with which the command succeeds, with a secret in every secret field, from the weakest caller who may send it. */
async function prepare(operation: CommandOperation): Promise<Request> {
  const made = await requestOf(operation.id === 'bootstrap.admin' ? emptyStage : stage, operation);
  const key =
    isOwned(operation) && !beyondWeakest.test(operation.id) ? await weakestKey(operation, made.ids) : made.key;
  const credentials = Object.entries(made.headers ?? {}).filter(([name]) => name !== 'idempotency-key');
  for (const [name, value] of credentials) secrets.set(value.replace('Bearer ', ''), `${operation.id} ${name}`);
  if (key) secrets.set(key, `${operation.id} x-api-key`);
  return { ...made, key, body: withSecrets(operation, made.body) };
}

async function weakestKey(operation: CommandOperation, ids: Ids): Promise<string> {
  const demand = demandOf(operation);
  return (await addPerson(stage, weakest(demand), membershipsFor(demand, ids).enough)).key;
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

/** Reads an address with the credential of a request. */
async function readAt(url: string, { key, headers }: { key?: string | undefined; headers?: object }) {
  const answer = await api.app.inject({ url, headers: { ...(key && { 'x-api-key': key }), ...headers } });
  return { status: answer.statusCode, text: answer.body };
}

/** The credential that a command created, for commands that end the caller's old one. */
function madeCredential(text: string) {
  const { key, token, session_id: session } = text ? JSON.parse(text) : {};
  return /^dc_/.test(key) ? { key } : session ? { headers: { authorization: `Bearer ${token}` } } : {};
}

const pattern = (route: string) => new RegExp(`^${route.replaceAll('.', '\\.').replace(/:\w+/g, '[^/]+')}$`);

/** The subject of these events is the installation, which the audit does not name as a resource. */
const ofInstallation = /^(installation\.|settings\.changed$)/;

const coveringTypes = (action: string) =>
  Object.entries<EventType>(eventTypes)
    .filter(([, { covers = [] }]) => covers.includes(action))
    .map(([type]) => type);

describe('the table of answers', () => {
  it('lists every command and no others', () => {
    expect(Object.keys(answers).sort()).toEqual(commands.map(({ id }) => id).sort());
  });
});

describe.each(commands.map((operation) => [operation.id, operation] as const))('the command %s', (id, operation) => {
  const at = () => (id === 'bootstrap.admin' ? empty : api);
  const isOwnedByTenant = !ownerless.test(id);
  let request: Request;
  /** How many callers were refused. */
  let refused = 0;
  let done: OperationAnswer;

  beforeAll(async () => {
    request = await prepare(operation);
  });

  if (!workflowCommands.has(id))
    it('has no effect without its audit record', async () => {
      const before = await contents(at());
      const broken = await whileBroken(at(), () => ask(at(), operation, request));
      expect([500, 503], broken.text).toContain(broken.status);
      expect(broken.text).not.toContain('audit');
      expect(await contents(at())).toEqual(before);
    });

  it('is recorded with its resource and owners when it succeeds, and when it is refused', async () => {
    if (isOwnedByTenant) refused = await refuse();
    done = await ask(at(), operation, request);
    expect(done.status, done.text).toBe(answers[id]?.[0]);
    for (const secret of secretsIn(done.text ? JSON.parse(done.text) : {})) secrets.set(secret, `the answer of ${id}`);
    const rows = await at().rows<{ action: string }>(
      `select action, resource_type, outcome from audit_records order by at desc, id desc limit 1`,
    );
    const [action, type] = [actionOf(operation), resourceTypeOf(operation)];
    expect(rows).toEqual([{ action, resource_type: type, outcome: 'committed' }]);
    if (isOwnedByTenant) await expectOwners();
  });

  it('answers the address of its result, which its caller may read', async () => {
    const [status, location] = answers[id] ?? [];
    if (location === undefined) expect(done.location).toBeNull();
    else expect(done.location).toMatch(pattern(location));
    if (status === 204) expect(done.text).toBe('');
    const reader = id.startsWith('service_account_keys') ? request : { ...request, ...madeCredential(done.text) };
    if (done.location) expect((await readAt(done.location, reader)).status, done.location).toBe(200);
  });

  if (operation.idempotency !== 'none')
    it('answers the same if it is repeated', async () => {
      await expectRepeated(done);
      // The previous release had no commands that answer their receipts.
      if (!operation.answersReceipt) await expectRepeatedByOldReceipt(done);
    });

  /** Lets callers be refused: one lacks the permission, the other may not read the target. Returns how many there were. */
  async function refuse(): Promise<number> {
    // Only a path names a target without its body.
    const callers = isRefusedByPath(operation) ? (['requester', 'maintainer'] as const) : (['maintainer'] as const);
    for (const role of callers) {
      const answer = await ask(api, operation, { ...request, key: (await addPerson(stage, role)).key });
      expect([400, 403, 404], answer.text).toContain(answer.status);
    }
    return callers.length;
  }

  async function expectOwners(): Promise<void> {
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

  /** The previous release stored only the status and the address of an answer. */
  async function expectRepeatedByOldReceipt({ status, location }: OperationAnswer): Promise<void> {
    const key = request.headers?.['idempotency-key'];
    const rows = await api.rows<{ status: number; location: string | null }>(
      'update command_receipts set answer = null where key = ? returning status, location',
      [key],
    );
    expect(rows).toEqual([{ status, location }]);
    await expectRepeated({ status, location, text: '' });
    const outcome = JSON.parse((await readAt('/api/v1/commands/outcome', request)).text);
    expect(outcome.receipt).toMatchObject({ key, status, location });
  }

  /** A repeated command answers its receipt again, or the body that is read at its address now. */
  async function expectRepeated(first: OperationAnswer): Promise<void> {
    const repeated = await ask(at(), operation, request);
    expect([repeated.status, repeated.location]).toEqual([first.status, first.location]);
    if (operation.answersReceipt) return expect(repeated.text).toBe(first.text);
    const today = first.location ? await readAt(first.location, request) : { text: '' };
    expect(repeated.text).toBe(today.text);
  }
});

describe('all commands together', () => {
  it('publish an event for each record of the audit', async () => {
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
        ...[subject, ...Object.values(data)].map((each) => `${type} ${each}`),
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

  it('leave no secret in the audit, in receipts, in messages to the engine, or in the log', async () => {
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

describe('the publication of a version', () => {
  const publish = commands.find(({ id }) => id === 'template_versions.publish')!;

  it('answers 201 the first time and 200 for the same version again, with the same location', async () => {
    const request = await requestOf(stage, publish);
    const [answer, again] = [await ask(api, publish, request), await ask(api, publish, request)];
    expect([answer.status, again.status]).toEqual([201, 200]);
    expect(again.location).toBe(answer.location);
    expect(again.text).toBe(answer.text);
  });
});

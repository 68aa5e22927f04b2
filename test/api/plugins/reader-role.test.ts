import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPluginReader } from '#database/plugin-reader.ts';
import { verifyRoots } from '#domain/plugins/restorations/roots-store.ts';
import { codeBlocks } from '#test/docs/markdown.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { addPluginTables, zones } from '#test/support/plugins/deleted-resource.ts';

let api: TestApi;
let url: string;
let role: string;
const schemas = ['dns'];
const roots = { roots: [zones], key: randomUUID() };

beforeAll(async () => {
  api = await startApi();
  url = await addPluginTables(api);
  role = new URL(url).username;
  await createPluginReader(api.services.config.databaseUrl, { role, password: new URL(url).password, schemas });
  await api.rows('create table hidden.more (id text)');
  await api.rows('create sequence dns.numbers');
  await api.rows('create function dns.act() returns int language sql as $$ select 1 $$');
  await api.rows('revoke execute on function dns.act from public');
});
afterAll(() => api?.close());

const look = (databaseUrl: string | null) => verifyRoots({ schemas, databaseUrl }, roots);

/** Rights that the role must not have: the statement that grants one, the one that revokes it, and the error. */
const excesses: readonly [allow: string, forbid: string, why: string][] = [
  ['alter role X createrole', 'alter role X nocreaterole', 'it may make roles or databases'],
  ['alter role X bypassrls', 'alter role X nobypassrls', 'pass row security'],
  ['grant pg_execute_server_program to X', 'revoke pg_execute_server_program from X', 'it is a member of the role'],
  ['alter sequence dns.numbers owner to X', 'alter sequence dns.numbers owner to current_user', 'it owns something'],
  ['grant execute on function dns.act to X', 'revoke execute on function dns.act from X', 'an entry of pg_proc'],
  ['grant set on parameter log_statement to X', 'revoke set on parameter log_statement from X', 'pg_parameter_acl'],
  [
    'grant create on schema hidden to X',
    'revoke create on schema hidden from X',
    'may make things in the schema hidden',
  ],
  ['grant create on schema public to public', 'revoke create on schema public from public', 'the schema public'],
  ...['insert', 'update', 'delete', 'truncate', 'references', 'trigger'].map(
    (right) =>
      [`grant ${right} on dns.zones to X`, `revoke ${right} on dns.zones from X`, 'it may change dns.zones'] as const,
  ),
  ['grant update (secret) on dns.zones to X', 'revoke update (secret) on dns.zones from X', 'it may change dns.zones'],
  ['grant usage on sequence dns.numbers to X', 'revoke usage on sequence dns.numbers from X', 'dns.numbers'],
  ['grant select on hidden.more to X', 'revoke select on hidden.more from X', 'it may read hidden.more'],
  ['grant select (id) on hidden.more to public', 'revoke select (id) on hidden.more from public', 'read hidden.more'],
  ['grant select on runs to X', 'revoke select on runs from X', 'it may read public.runs'],
  ['grant select on pg_authid to X', 'revoke select on pg_authid from X', 'it may read pg_catalog.pg_authid'],
].map(([allow = '', forbid = '', why = '']) => [allow, forbid, why] as const);

describe('the role that reads the tables of plugins', () => {
  it('a role that has read access to the schemas of plugins and nothing more is accepted', async () => {
    expect(await look(url)).toMatchObject({ kind: 'missing', why: expect.stringContaining('no row') });
  });

  it.each(excesses)('is refused after "%s"', async (allow, forbid, why) => {
    await api.rows(allow.replace('X', role));
    const found = await look(url);
    await api.rows(forbid.replace('X', role));
    expect(found).toMatchObject({
      kind: 'unverified',
      why: expect.stringContaining('may do more than read the schemas of plugins'),
    });
    expect(found).toMatchObject({ why: expect.stringContaining(why) });
    expect(await look(url)).toMatchObject({ kind: 'missing' });
  });

  it('cannot create schemas in the database', async () => {
    const database = new URL(url).pathname.slice(1);
    await api.rows(`grant create on database ${database} to ${role}`);
    expect(await look(url)).toMatchObject({ why: expect.stringContaining('it may make schemas in the database') });
    await api.rows(`revoke create on database ${database} from ${role}`);
  });

  it('must be configured, and must not be the role of the service', async () => {
    const { databaseUrl } = api.services.config;
    expect(await look(databaseUrl)).toMatchObject({ why: expect.stringContaining('it is a superuser') });
    expect(await look(null)).toMatchObject({ why: 'COORDINATOR_PLUGIN_DATABASE_URL is not set' });
    const wrong = url.replace(/:[0-9a-f]+@/, ':wrong@');
    expect(await look(wrong)).toMatchObject({ why: expect.stringContaining('the database refuses the role') });
    const gone = url.replace(/@[^/]+/, '@127.0.0.1:1');
    expect(await look(gone)).toMatchObject({ why: 'the database did not answer' });
  });

  it('loses access to schemas that are removed from the setting', async () => {
    const reader = { role, password: new URL(url).password };
    await createPluginReader(api.services.config.databaseUrl, { ...reader, schemas: ['dns', 'hidden'] });
    expect(await look(url)).toMatchObject({ why: expect.stringContaining('it may read hidden.') });
    await createPluginReader(api.services.config.databaseUrl, { ...reader, schemas });
    expect(await look(url)).toMatchObject({ kind: 'missing' });
  });

  it('can be created as docs/plugins.md says', async () => {
    const own = new URL(api.services.config.databaseUrl);
    own.username = `${own.pathname.slice(1)}_reader`;
    own.password = 'secret';
    const [sql = ''] = codeBlocks('docs/plugins.md').flatMap(({ info, text }) => (info === 'sql' ? [text] : []));
    for (const statement of sql.replaceAll('plugin_reader', own.username).replace('…', own.password).split(';\n'))
      if (statement !== '') await api.rows(statement);
    expect(await look(own.href)).toMatchObject({ kind: 'missing' });
    await api.rows(`drop owned by ${own.username}`);
    await api.rows(`drop role ${own.username}`);
  });
});

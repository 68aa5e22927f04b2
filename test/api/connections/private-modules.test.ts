import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withDatabase } from '#open-database';
import { type AssemblyStage, makePlace } from '#test/support/assembly-stage.ts';
import { makeCertificate } from '#test/support/programs/certificate.ts';
import { type GitServer, makeGitRoot, Repository, serveGit } from '#test/support/programs/git.ts';
import { type System, startSystem } from '#test/support/system.ts';
import { publish } from '#test/support/templates.ts';

/** A private module, from its connection to the outputs of a run, without a replacement of any part of the service. */
const token = 'secret-of-private-modules-8d21';
const certificates = mkdtempSync(join(tmpdir(), 'coordinator-test-certificates-'));
const trusted = process.env['SSL_CERT_FILE'];
const root = makeGitRoot();
const repository = new Repository(join(root.path, 'acme', 'network.git'));
let server: GitServer;
let system: System;
let place: Omit<AssemblyStage, 'system' | 'caller'>;

beforeAll(async () => {
  const certificate = makeCertificate(certificates);
  chmodSync(certificates, 0o755);
  process.env['SSL_CERT_FILE'] = certificate.cert;
  repository.commit({ 'main.tf': 'output "region" { value = "one" }\n' });
  const login = `Basic ${Buffer.from(`git:${token}`).toString('base64')}`;
  server = await serveGit(
    root.path,
    (request, response) => {
      if (request.headers.authorization === login) return false;
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
      return true;
    },
    certificate,
  );
  system = await startSystem({ COORDINATOR_OUTBOUND_ALLOW: '127.0.0.1' });
  place = await makePlace(system.administrator, 'Acme');
  // The API refuses to open the worker's own machine, where the server of this test is.
  const egress = JSON.stringify({ policy: 'allow', allow: ['127.0.0.1'] });
  await withDatabase(system.config, async (orm) => {
    const pool = `insert into worker_pools (name, egress, created_at) values ('default', ?, clock_timestamp())
      on conflict (name) do update set egress = excluded.egress`;
    await orm.em.fork().execute(pool, [egress]);
  });
});
afterAll(async () => {
  await system?.close();
  await server?.close();
  root.remove();
  rmSync(certificates, { recursive: true, force: true });
  if (trusted === undefined) delete process.env['SSL_CERT_FILE'];
  else process.env['SSL_CERT_FILE'] = trusted;
});

async function run(templateId: string, instance: string) {
  const { administrator } = system;
  const request = { template_id: templateId, environment_id: place.environmentId, instance };
  const { status, body, text } = await administrator.post('/runs', request);
  expect(status, text).toBe(202);
  const ended = await administrator.awaitRun(body.id, ['succeeded', 'failed']);
  const log = (await administrator.get(`/runs/${body.id}/logs`, { accept: 'text/plain' })).text;
  return { ended, log };
}

/** The tools for which a version has modules. */
const keptTools = (versionId: string) =>
  withDatabase(system.config, async (orm) => {
    const kept = 'select tool from template_version_modules where template_version_id = ? and content is not null';
    const rows = await orm.em.fork().execute<{ tool: string }[]>(kept, [versionId]);
    return rows.map(({ tool }) => tool);
  });

const regionOf = async (instance: string) =>
  (await system.administrator.get(`/instances/${instance}/outputs`)).body.outputs.region.value;

describe('a private module', () => {
  it('is fetched with the bound connection, stays the same in later runs, and its credential is stored nowhere', async () => {
    const { administrator } = system;
    const source = `git::https://127.0.0.1:${server.port}/acme/network.git`;
    const main = `module "network" {\n  source = "${source}"\n}\noutput "region" { value = module.network.region }\n`;
    const spec = { outputs: { region: {} }, executor: { kind: 'opentofu', files: { 'main.tf': main } } };
    const template = await publish(administrator, 'private-module', spec, place.teamId);
    const url = `https://127.0.0.1:${server.port}/acme/`;
    const body = { name: 'modules', kind: 'git', config: { url }, credentials: { token }, team_id: place.teamId };
    const connection = await administrator.post('/admin/connections', body);
    expect(connection.status, connection.text).toBe(201);
    const bindings = `/environments/${place.environmentId}/connections`;
    const bound = await administrator.send('PUT', bindings, { modules: { connection_id: connection.body.id } });
    expect(bound.status, bound.text).toBe(200);

    const first = await run(template, 'first');
    expect(first.ended, first.log).toMatchObject({ status: 'succeeded' });
    expect(await regionOf(first.ended.instance_id)).toBe('one');
    expect(first.ended.connections).toMatchObject([
      { name: 'modules', phase: 'plan' },
      { name: 'modules', phase: 'apply' },
    ]);

    repository.commit({ 'main.tf': 'output "region" { value = "two" }\n' });
    await administrator.send('PUT', bindings, {});
    const second = await run(template, 'second');
    expect(second.ended, second.log).toMatchObject({ status: 'succeeded' });
    expect(await regionOf(second.ended.instance_id)).toBe('one');

    await administrator.send('PUT', bindings, { modules: { connection_id: connection.body.id } });
    const publication = { version: '2.0.0', spec, check_environment_id: place.environmentId };
    const checked = await administrator.post(`/registry/templates/${template}/versions`, publication);
    expect(checked.body.check, checked.text).toMatchObject({ state: 'passed', errors: [], not_checked: [] });
    repository.commit({ 'main.tf': 'output "region" { value = "three" }\n' });
    await administrator.send('PUT', bindings, {});
    const third = await run(template, 'third');
    expect(third.ended, third.log).toMatchObject({ status: 'succeeded', template_version: '2.0.0' });
    expect(await regionOf(third.ended.instance_id)).toBe('two');
    // The version allows each tool of the worker, so that the check kept the modules for each.
    const { workers } = (await administrator.get('/workers')).body;
    const offered = workers.flatMap(({ tools }: { tools: { name: string }[] }) => tools.map(({ name }) => name));
    expect((await keptTools(checked.body.id)).sort()).toEqual([...new Set(offered)].sort());

    expect(JSON.stringify([first, second, checked, third])).not.toContain(token);
    await withDatabase(system.config, async (orm) => {
      const tables = await orm.em
        .fork()
        .execute(`select table_name as name from information_schema.tables where table_schema = 'public'`);
      for (const { name } of tables) {
        const rows = await orm.em.fork().execute(`select t::text as row from "${name}" t`);
        expect(JSON.stringify(rows), name).not.toContain(token);
      }
    });
  });
});

import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '#domain/shared/ids.ts';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { makeGitRoot, Repository } from '#test/support/programs/git.ts';
import { makeSshKey, type SshGitServer, serveGitOverSsh } from '#test/support/programs/git-over-ssh.ts';

/** Private repositories over SSH, with the machine's own ssh and git against a real server. */
let api: TestApi;
let tenant: Tenant;
let server: SshGitServer;
let template: string;
let commit: string;
const root = makeGitRoot();
const key = makeSshKey();

beforeAll(async () => {
  commit = new Repository(join(root.path, 'acme/network.git')).commit({ 'main.tf': 'output "a" { value = 1 }\n' });
  server = await serveGitOverSsh(root.path, key);
  api = await startApi({ COORDINATOR_OUTBOUND_ALLOW: '127.0.0.1' });
  tenant = await makeTenant(api);
  template = (await tenant.owner.make('/registry/templates', { name: 'Network', team_id: tenant.team })).id;
});
afterAll(async () => {
  await api?.close();
  await server?.close();
  root.remove();
});

const base = () => `ssh://git@127.0.0.1:${server.port}`;

/** Adds a connection with this key, for repositories below `acme`. Returns its name and its id. */
async function add(privateKey = key.private, knownHosts = server.knownHosts) {
  const name = `ssh-${newId()}`;
  const credentials = { private_key: privateKey, known_hosts: knownHosts };
  const body = { name, kind: 'git', config: { url: `${base()}/acme/` }, credentials, team_id: tenant.team };
  return { name, id: (await tenant.owner.make('/admin/connections', body)).id };
}

let published = 0;
function publish(connection: string | undefined, url = `${base()}/acme/network.git/.git`) {
  const spec = { executor: { kind: 'opentofu', git: { url, ref: 'main', connection } } };
  return tenant.owner.post(`/registry/templates/${template}/versions`, { version: `1.0.${++published}`, spec });
}

/** The lines of a private key, as they could appear anywhere. */
const linesOf = (text: string) => text.split('\n').filter((line) => line.length > 40);

describe('a private repository over SSH', () => {
  it('is published with the key of a connection, which is neither shown nor left in a file', async () => {
    const { name } = await add();
    const before = readdirSync(tmpdir());
    const argv: string[] = [];
    const watching = setInterval(
      () => argv.push(execFileSync('ps', ['axeww', '-o', 'args'], { encoding: 'utf8' })),
      20,
    );
    const answer = await publish(name).finally(() => clearInterval(watching));
    expect(answer.status, answer.text).toBe(201);
    expect(answer.body.commit).toBe(commit);
    expect(server.commands.at(-1)).toBe("git-upload-pack '/acme/network.git/.git'");
    const kept = await Promise.all(
      ['template_versions', 'audit_records', 'domain_events', 'command_receipts', 'outbox'].map((table) =>
        api.rows(`select t::text as row from ${table} t`),
      ),
    );
    for (const line of linesOf(key.private)) expect(JSON.stringify([answer.text, kept, argv])).not.toContain(line);
    expect(argv.join('')).toContain('upload-pack');
    // Other test files publish from git at the same time, so what is new may be theirs, and goes as well.
    const isService = (file: string) => !before.includes(file) && /git|source/.test(file) && !/-test-/.test(file);
    const left = readdirSync(tmpdir()).filter(isService);
    await expect.poll(() => readdirSync(tmpdir()).filter((file) => left.includes(file))).toEqual([]);
  });

  it('is tried by the test of the connection', async () => {
    const { id } = await add();
    const worked = await tenant.owner.post(`/admin/connections/${id}/test`, {
      repository: `${base()}/acme/network.git/.git`,
    });
    expect(worked, worked.text).toMatchObject({ status: 200, body: { ok: true, problem: null } });
  });

  it('needs a connection', async () => {
    expect(await publish(undefined)).toMatchObject({
      status: 422,
      headers: { 'x-error-code': 'source_credential_unfit' },
    });
  });

  it.each([
    ['another key than the server knows', () => add(makeSshKey().private)],
    ['a host that has another key than the connection names', () => add(key.private, hostsWith(makeSshKey().public))],
    ['a host that the connection does not name', () => add(key.private, `elsewhere.example ${makeSshKey().public}`)],
  ])('is refused with %s, and the response shows no secret', async (_situation, make) => {
    const { name } = await make();
    const commands = server.commands.length;
    const answer = await publish(name);
    expect(answer, answer.text).toMatchObject({ status: 422 });
    expect(answer.text).toMatch(/refused|credential|host|key/);
    for (const line of linesOf(key.private)) expect(answer.text).not.toContain(line);
    expect(server.commands).toHaveLength(commands);
  });

  it('does not send the key to a host that has another host key', async () => {
    const logins = server.logins();
    const { name } = await add(key.private, hostsWith(makeSshKey().public));
    await publish(name);
    expect(server.logins()).toBe(logins);
  });

  it.each([
    'ssh://-oProxyCommand=touch${IFS}/tmp/owned/acme/network.git',
    'ssh://git@127.0.0.1:PORT/acme/-u/network.git;id',
    'ext::sh -c touch% /tmp/owned',
    'file:///etc',
    'ssh://git@127.0.0.1:PORT/elsewhere/network.git',
  ])('cannot be reached by the hostile address %s', async (address) => {
    const { name } = await add();
    const answer = await publish(name, address.replace('PORT', String(server.port)));
    expect([400, 422], answer.text).toContain(answer.status);
    expect(readdirSync(tmpdir())).not.toContain('owned');
  });
});

function hostsWith(publicKey: string): string {
  return `[127.0.0.1]:${server.port} ${publicKey}`;
}

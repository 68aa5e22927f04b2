import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { ModuleSource } from '#domain/connections/module-sources/model.ts';
import { makeCertificate } from '#test/support/programs/certificate.ts';
import { makeGitRoot, Repository, serveGit } from '#test/support/programs/git.ts';
import { makeSshKey, serveGitOverSsh } from '#test/support/programs/git-over-ssh.ts';
import { makeRequest, makeWorkRoot, requireTools, run, type TestRequest } from '../support.ts';

/**
 * Modules from git whose repositories have submodules. Each submodule is fetched with the connection for its own address, or without one.
 */

const certificates = mkdtempSync(join(tmpdir(), 'coordinator-test-certificates-'));
const certificate = makeCertificate(certificates);
chmodSync(certificates, 0o755);
const before = process.env['SSL_CERT_FILE'];
// The host of the executor gets it when it starts.
process.env['SSL_CERT_FILE'] = certificate.cert;

const tools = await requireTools();
const work = makeWorkRoot();
const root = makeGitRoot();
const passwords: Readonly<Record<string, string>> = {
  acme: 'the-token-of-acme-51ab',
  widgets: 'the-token-of-widgets-90fe',
};
/** The logins that the server got for each organization. */
const logins: [organization: string, login: string][] = [];
function answerTo(request: IncomingMessage, response: ServerResponse): boolean {
  const organization = request.url?.split('/')[1] ?? '';
  const given = Buffer.from((request.headers.authorization ?? '').replace('Basic ', ''), 'base64').toString();
  logins.push([organization, given]);
  if (organization === 'open' || given === `git:${passwords[organization]}`) return false;
  response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
  return true;
}
const server = await serveGit(root.path, answerTo, certificate);
// The tools reach 127.0.0.1 without the proxy of their sandbox, so repositories without a connection need another address.
const outside = await serveGit(root.path, answerTo, undefined, '127.0.0.8');
const key = makeSshKey();
const ssh = await serveGitOverSsh(root.path, key);
afterAll(async () => {
  await Promise.all([work.remove(), server.close(), outside.close(), ssh.close()]);
  root.remove();
  rmSync(certificates, { recursive: true, force: true });
  if (before === undefined) delete process.env['SSL_CERT_FILE'];
  else process.env['SSL_CERT_FILE'] = before;
});

const origin = `https://127.0.0.1:${server.port}`;
const elsewhere = `127.0.0.8:${outside.port}`;
const sourceOf = (organization: string): ModuleSource => ({
  kind: 'git',
  url: `${origin}/${organization}/`,
  credential: { kind: 'password', username: 'git', password: passwords[organization] ?? '' },
  identity: `${organization}.1`,
});

for (const organization of ['acme', 'widgets', 'open'])
  new Repository(join(root.path, organization, 'part.git')).commit({ 'name.txt': `part of ${organization}` });

/** Adds a repository that has the part of an organization as a submodule at this address. */
function addModule(name: string, organization: string, address: string, more: Record<string, string> = {}): string {
  const part = new Repository(join(root.path, organization, 'part.git')).git('rev-parse', 'HEAD');
  const repository = new Repository(join(root.path, 'acme', `${name}.git`));
  repository.commit({
    'main.tf': 'output "name" { value = file("${path.module}/part/name.txt") }\n',
    '.gitmodules': `[submodule "part"]\n\tpath = part\n\turl = ${address}\n`,
    ...more,
  });
  repository.git('update-index', '--add', '--cacheinfo', `160000,${part},part`);
  repository.git('commit', '--quiet', '--message', 'a submodule');
  return name;
}

const relative = addModule('relative', 'acme', '../part.git');
const beside = addModule('beside', 'widgets', `${origin}/widgets/part.git`);
const upwards = addModule('upwards', 'widgets', '../../widgets/part.git');
const open = addModule('open', 'open', `http://${elsewhere}/open/part.git`);
const closed = addModule('closed', 'widgets', `http://${elsewhere}/widgets/part.git`);
const overSsh = addModule('over-ssh', 'acme', `ssh://git@127.0.0.1:${ssh.port}/acme/part.git`);
const hostile = {
  'a program as its transport': addModule('by-program', 'acme', 'ext::sh -c "echo pwned >&2"'),
  'a file of the machine': addModule('by-file', 'widgets', `file://${root.path}/widgets/part.git`),
  'a path of the machine': addModule('by-path', 'widgets', `${root.path}/widgets/part.git`),
  'an option of git': addModule('by-option', 'acme', '-u./program'),
  'a command to run instead of a checkout': addModule(
    'by-command',
    'acme',
    '../part.git\n\tupdate = !echo pwned >&2; true',
  ),
};
const hook = '#!/bin/sh\necho pwned >&2\n';
const hookPlaces = ['hooks', '.githooks', 'git/hooks'].map((name) => [`${name}/post-checkout`, hook]);
const hooks = addModule('hooks', 'acme', '../part.git', Object.fromEntries(hookPlaces));
let versions = 0;

describe.each(tools)('a submodule of a private module with $name $version', ({ name, version }) => {
  const plan = (repository: string, moduleSources: ModuleSource[], changes: Partial<TestRequest> = {}) => {
    const source = repository.includes(':') ? repository : `${origin}/acme/${repository}.git`;
    const files = {
      'main.tf': `module "one" {\n  source = "git::${source}"\n}\noutput "name" { value = module.one.name }\n`,
    };
    return run(
      makeRequest({
        workRoot: work.path,
        templateVersion: `submodules-${process.pid}-${++versions}`,
        phase: 'plan',
        tool: { name, version },
        egress: { policy: 'allow', allow: ['127.0.0.1', '127.0.0.8', 'nowhere.invalid'] },
        executor: { kind: 'opentofu', files },
        moduleSources,
        ...changes,
      }),
    );
  };
  const outputOf = async (ran: ReturnType<typeof plan>) => {
    const { result, sink } = await ran;
    expect(result, sink.text()).toMatchObject({ outcome: 'succeeded' });
    for (const secret of Object.values(passwords)) expect(sink.text()).not.toContain(secret);
    return { after: result.plan?.sections.outputs[0]?.after, modules: result.modules };
  };

  it('below the URL of the same connection is fetched with that connection, even by a relative address', async () => {
    expect((await outputOf(plan(relative, [sourceOf('acme')]))).after).toBe('part of acme');
  });

  it.each([beside, upwards])(
    'below the URL of another connection is fetched with that other connection (%s)',
    async (repository) => {
      logins.length = 0;
      const { after } = await outputOf(plan(repository, [sourceOf('acme'), sourceOf('widgets')]));
      expect(after).toBe('part of widgets');
      for (const [organization, login] of logins) expect(login).toBe(`git:${passwords[organization]}`);
    },
  );

  it('outside of every connection is fetched without a credential if it is public', async () => {
    logins.length = 0;
    expect((await outputOf(plan(open, [sourceOf('acme'), sourceOf('widgets')]))).after).toBe('part of open');
    expect(new Set(logins.filter(([organization]) => organization === 'open').map(([, login]) => login))).toEqual(
      new Set(['']),
    );
  });

  it('outside of every connection fails with a hint at the missing connection if it is private', async () => {
    const { result, sink } = await plan(closed, [sourceOf('acme'), sourceOf('widgets')]);
    expect(result).toMatchObject({ outcome: 'failed', reason: 'init_failed' });
    expect(sink.text('system')).toContain(
      `${elsewhere} wants credentials: bind a git connection whose URL begins with http://${elsewhere}/`,
    );
  });

  it('a submodule over SSH is fetched with the key of a connection for its address, and named if there is none', async () => {
    const url = `ssh://git@127.0.0.1:${ssh.port}/acme/`;
    const credential = { kind: 'ssh_key', privateKey: key.private, knownHosts: ssh.knownHosts } as const;
    const bound: ModuleSource = { kind: 'git', url, credential, identity: 'ssh.1' };
    expect((await outputOf(plan(overSsh, [sourceOf('acme'), bound]))).after).toBe('part of acme');
    const unbound = await plan(overSsh, [sourceOf('acme')]);
    expect(unbound.result).toMatchObject({ outcome: 'failed', reason: 'init_failed' });
    expect(unbound.sink.text('system')).toContain(`ssh://git@127.0.0.1:${ssh.port}/`);
  });

  it('a submodule of a repository that is read over SSH is fetched over SSH by a relative address', async () => {
    const url = `ssh://git@127.0.0.1:${ssh.port}/acme/`;
    const credential = { kind: 'ssh_key', privateKey: key.private, knownHosts: ssh.knownHosts } as const;
    const bound: ModuleSource = { kind: 'git', url, credential, identity: 'ssh.1' };
    expect((await outputOf(plan(`${url}relative.git`, [bound]))).after).toBe('part of acme');
  });

  it('is stored with the version, and has the same digest whenever it is fetched', async () => {
    const first = await outputOf(plan(relative, [sourceOf('acme')]));
    const again = await outputOf(plan(relative, [sourceOf('acme')]));
    expect(first.modules?.digest).toBe(again.modules?.digest);
    expect((await outputOf(plan(relative, [], { modules: first.modules ?? null }))).after).toBe('part of acme');
  });

  it.each(Object.entries(hostile))('a submodule with %s is refused, and none of it runs', async (_, repository) => {
    const { result, sink } = await plan(repository, [sourceOf('acme'), sourceOf('widgets')]);
    expect(result, sink.text()).toMatchObject({ outcome: 'failed', reason: 'init_failed' });
    expect(`${JSON.stringify(result)}${sink.text()}`).not.toMatch(/^pwned|part of widgets/m);
  });

  it('a submodule of a repository with hooks is fetched without running them', async () => {
    const ran = plan(hooks, [sourceOf('acme')]);
    expect((await outputOf(ran)).after).toBe('part of acme');
    expect((await ran).sink.text()).not.toContain('pwned');
  });

  it('a submodule over SSH whose host does not exist fails without a hint at a connection', async () => {
    const { result, sink } = await plan('ssh://git@nowhere.invalid/acme/x.git', []);
    expect(result).toMatchObject({ outcome: 'failed', reason: 'init_failed' });
    expect(sink.text('system')).toContain('egress to nowhere.invalid:22 failed: the name does not exist');
    expect(sink.text('system')).not.toContain('connection');
  });
});

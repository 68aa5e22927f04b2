import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { ModuleSource } from '#domain/connections/module-sources/model.ts';
import { makeCertificate } from '#test/support/programs/certificate.ts';
import { type GitServer, makeGitRoot, Repository, serveGit } from '#test/support/programs/git.ts';
import { makeSshKey, serveGitOverSsh } from '#test/support/programs/git-over-ssh.ts';
import { makeRequest, makeWorkRoot, requireTools, run, type TestRequest } from '../support.ts';

const certificates = mkdtempSync(join(tmpdir(), 'coordinator-test-certificates-'));
const certificate = makeCertificate(certificates);
// The host runs as another user, if the tests run as root.
chmodSync(certificates, 0o755);
const before = process.env['SSL_CERT_FILE'];
// The host of the executor gets it when it starts.
process.env['SSL_CERT_FILE'] = certificate.cert;

const tools = await requireTools();
const work = makeWorkRoot();
const root = makeGitRoot();
const password = 'the-token-of-acme-3f9c';
const other = 'the-token-of-widgets-77aa';
const passwords: Readonly<Record<string, string>> = { acme: password, widgets: other };

/** Opens repositories of each organization to its own password alone. */
const server: GitServer = await serveGit(
  root.path,
  (request, response) => {
    const organization = request.url?.split('/')[1] ?? '';
    const login = Buffer.from(`git:${passwords[organization] ?? ''}`).toString('base64');
    if (request.headers.authorization === `Basic ${login}`) return false;
    response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
    return true;
  },
  certificate,
);
const key = makeSshKey();
const ssh = await serveGitOverSsh(root.path, key);
afterAll(async () => {
  await work.remove();
  await Promise.all([server.close(), ssh.close()]);
  root.remove();
  rmSync(certificates, { recursive: true, force: true });
  if (before === undefined) delete process.env['SSL_CERT_FILE'];
  else process.env['SSL_CERT_FILE'] = before;
});

const network = new Repository(join(root.path, 'acme', 'network.git'));
network.commit({ 'main.tf': 'output "name" { value = "network one" }\n' });
network.git('tag', 'v1');
network.commit({
  'main.tf': 'output "name" { value = "network two" }\n',
  'sub/main.tf': 'output "name" { value = "below" }\n',
});
new Repository(join(root.path, 'widgets', 'store.git')).commit({ 'main.tf': 'output "name" { value = "store" }\n' });

const origin = `https://127.0.0.1:${server.port}`;
const sourceOf = (organization: string, given = passwords[organization] ?? ''): ModuleSource => ({
  kind: 'git',
  url: `${origin}/${organization}/`,
  credential: { kind: 'password', username: 'git', password: given },
  identity: `${organization}.1`,
});
let versions = 0;

describe.each(tools)('private modules with $name $version', ({ name, version }) => {
  const tool = { name, version };
  const plan = (modules: Readonly<Record<string, string>>, changes: Partial<TestRequest> = {}) =>
    run(
      makeRequest({
        workRoot: work.path,
        templateVersion: `private-${process.pid}-${++versions}`,
        phase: 'plan',
        tool,
        egress: { policy: 'allow', allow: ['127.0.0.1'] },
        executor: { kind: 'opentofu', files: { 'main.tf': configurationOf(modules) } },
        ...changes,
      }),
    );

  it('come from several organizations at once, at the ref that the configuration names', async () => {
    const modules = {
      one: `git::${origin}/acme/network.git?ref=v1`,
      two: `git::${origin}/acme/network.git`,
      below: `git::${origin}/acme/network.git//sub`,
      store: `git::${origin}/widgets/store.git`,
    };
    const { result, sink } = await plan(modules, { moduleSources: [sourceOf('acme'), sourceOf('widgets')] });
    expect(result, sink.text()).toMatchObject({ outcome: 'succeeded' });
    const values = Object.fromEntries(
      result.plan?.sections.outputs.map(({ name: output, after }) => [output, after]) ?? [],
    );
    expect(values).toEqual({ one: 'network one', two: 'network two', below: 'below', store: 'store' });
    expect(sink.text()).not.toContain(password);
  });

  it('come over SSH, whose key the sandbox does not have', async () => {
    const url = `ssh://git@127.0.0.1:${ssh.port}/acme/`;
    const { result, sink } = await plan(
      { one: `git::${url}network.git?ref=v1` },
      {
        moduleSources: [
          {
            kind: 'git',
            url,
            credential: { kind: 'ssh_key', privateKey: key.private, knownHosts: ssh.knownHosts },
            identity: 'ssh.1',
          },
        ],
      },
    );
    expect(result, sink.text()).toMatchObject({ outcome: 'succeeded' });
    expect(result.plan?.sections.outputs).toMatchObject([{ after: 'network one' }]);
  });
});

function configurationOf(modules: Readonly<Record<string, string>>): string {
  const blocks = Object.entries(modules).map(
    ([name, source]) =>
      `module "${name}" {\n  source = "${source}"\n}\noutput "${name}" { value = module.${name}.name }\n`,
  );
  return blocks.join('');
}

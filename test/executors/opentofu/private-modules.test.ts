import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { ModuleSource } from '#domain/connections/module-sources/model.ts';
import { makeCertificate } from '#test/support/programs/certificate.ts';
import { type GitServer, makeGitRoot, Repository, serveGit } from '#test/support/programs/git.ts';
import { makeSshKey, serveGitOverSsh } from '#test/support/programs/git-over-ssh.ts';
import { serveRegistryAndCluster } from '#test/support/programs/registry-and-cluster.ts';
import { makeRequest, makeWorkRoot, requireTools, run, type TestRequest } from '../support.ts';

const certificates = mkdtempSync(join(tmpdir(), 'coordinator-test-certificates-'));
const certificate = makeCertificate(certificates);
const tokens = { registry: 'the-token-of-the-registry-5e2b', cluster: 'none' };
const mayListen = process.getuid?.() === 0;
const registry = mayListen ? await serveRegistryAndCluster(makeDirectory('registry'), tokens) : null;
writeFileSync(certificate.cert, `${readFileSync(certificate.cert, 'utf8')}${registry?.ca ?? ''}`);
// The host runs as another user, if the tests run as root.
chmodSync(certificates, 0o755);
const before = process.env['SSL_CERT_FILE'];
// The host of the executor gets it when it starts.
process.env['SSL_CERT_FILE'] = certificate.cert;

const tools = await requireTools();
const work = makeWorkRoot();
const otherWork = makeWorkRoot();
const root = makeGitRoot();
const password = 'the-token-of-acme-3f9c';
const other = 'the-token-of-widgets-77aa';
const passwords: Readonly<Record<string, string>> = { acme: password, widgets: other };

/** Opens the repositories of each organization only with the organization's password. */
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
// The tools reach 127.0.0.1 without the proxy of their sandbox, so this needs another address.
const closed = createServer((_request, response) => {
  response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
});
await new Promise<void>((resolve) => closed.listen(0, '127.0.0.8', resolve));
const closedHost = `127.0.0.8:${(closed.address() as AddressInfo).port}`;
const key = makeSshKey();
const ssh = await serveGitOverSsh(root.path, key);
afterAll(async () => {
  await Promise.all([work.remove(), otherWork.remove()]);
  await Promise.all([server.close(), new Promise((resolve) => closed.close(resolve)), ssh.close(), registry?.close()]);
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
network.git('tag', 'v2');
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

  it('are fetched from several organizations at once, at the ref that the configuration names', async () => {
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

  it("are fetched by a check with a connection, and the version's runs then use them", async () => {
    const modules = { one: `git::${origin}/acme/network.git?ref=v1` };
    const unopened = await plan(modules, { phase: 'detect', check: true });
    expect(unopened.result.check?.unchecked, unopened.sink.text()).not.toEqual([]);
    expect(unopened.result.modules).toBeUndefined();
    const checked = await plan(modules, { phase: 'detect', check: true, moduleSources: [sourceOf('acme')] });
    expect(checked.result.check, checked.sink.text()).toEqual({ findings: [], unchecked: [], missingPrograms: [] });
    expect(JSON.stringify([unopened.result, checked.result])).not.toContain(password);
    const kept = checked.result.modules;
    expect(kept?.list).toMatchObject([{ key: 'one', digest: expect.stringMatching(/^sha256:/) }]);
    const planned = await plan(modules, { modules: kept });
    expect(planned.result, planned.sink.text()).toMatchObject({ outcome: 'succeeded' });
    expect(planned.result.plan?.sections.outputs).toMatchObject([{ after: 'network one' }]);
  });

  it.runIf(name === 'opentofu')(
    'private modules that a variable chooses are fetched for each run, and are not stored with the version',
    async () => {
      const source = `git::${origin}/acme/network.git?ref=\${var.ref}`;
      const files = { 'main.tf': `variable "ref" {\n  default = "v1"\n}\n${configurationOf({ one: source })}` };
      const executor = { kind: 'opentofu', files } as const;
      const given = { executor, templateVersion: `chosen-${process.pid}`, moduleSources: [sourceOf('acme')] };
      const checked = await plan({}, { ...given, phase: 'detect', check: true });
      expect(checked.result.check, checked.sink.text()).toMatchObject({ findings: [] });
      expect(checked.result.modules).toBeUndefined();
      for (const [ref, after] of [
        ['v1', 'network one'],
        ['v2', 'network two'],
      ] as const) {
        const { result, sink } = await plan({}, { ...given, variables: { ref } });
        expect(result.plan?.sections.outputs, sink.text()).toMatchObject([{ after }]);
        expect(result.modules).toBeUndefined();
      }
    },
  );

  it('are fetched over SSH, with a key that the sandbox does not have', async () => {
    const url = `ssh://git@127.0.0.1:${ssh.port}/acme/`;
    const { result, sink } = await plan({ one: `git::${url}network.git?ref=v1` }, { moduleSources: [overSsh(url)] });
    expect(result, sink.text()).toMatchObject({ outcome: 'succeeded' });
    expect(result.plan?.sections.outputs).toMatchObject([{ after: 'network one' }]);
  });

  it.runIf(mayListen)('are fetched from a registry with a token that the sandbox does not have', async () => {
    const host = registry?.host ?? '';
    const files = {
      'main.tf': `module "network" {\n  source  = "${host}/acme/network/null"\n  version = "1.0.0"\n}\noutput "region" { value = module.network.region }\n`,
    };
    const { result, sink } = await plan(
      {},
      {
        executor: { kind: 'opentofu', files },
        egress: { policy: 'allow', allow: [host] },
        moduleSources: [{ kind: 'registry', host, token: tokens.registry, identity: 'registry.1' }],
      },
    );
    expect(result, sink.text()).toMatchObject({ outcome: 'succeeded' });
    expect(result.plan?.sections.outputs).toMatchObject([{ after: 'from the private module' }]);
  });

  it("stay those of a version's first plan, without a connection and on another machine", async () => {
    const repository = new Repository(join(root.path, 'acme', `moving-${name}.git`));
    repository.commit({
      'main.tf': 'output "name" { value = templatefile("${path.module}/name", {}) }\n',
      name: 'first',
      'run.sh': { script: '#!/bin/sh\n' },
      linked: { link: 'name' },
    });
    const modules = { moving: `git::${origin}/acme/moving-${name}.git` };
    const first = await plan(modules, { moduleSources: [sourceOf('acme')] });
    expect(first.result, first.sink.text()).toMatchObject({ outcome: 'succeeded' });
    const kept = first.result.modules;
    expect(kept).toMatchObject({ list: [{ key: 'moving', source: modules.moving, version: null }] });
    repository.commit({ name: 'second' });
    const changes = { workRoot: otherWork.path, modules: kept ?? null };
    const again = await plan(modules, changes);
    expect(again.result, again.sink.text()).toMatchObject({ outcome: 'succeeded' });
    expect(again.result.plan?.sections.outputs).toMatchObject([{ after: 'first' }]);
    expect(again.result.modules).toBeUndefined();
    const { artifact = null, digest } = first.result.plan ?? {};
    const applied = await plan(modules, { ...changes, phase: 'apply', artifact, planDigest: digest });
    expect(applied.result, applied.sink.text()).toMatchObject({ outcome: 'succeeded' });
    const unkept = { modules: kept ? { ...kept, content: null } : null, moduleSources: [sourceOf('acme')] };
    const refused = await plan(modules, unkept);
    expect(refused.result).toMatchObject({ outcome: 'failed', reason: 'modules_changed' });
    expect(refused.result.message).toContain(`the module "moving" (${modules.moving}) is another one than before`);
  });

  it('make init fail with a hint at the connection that is missing', async () => {
    const egress = { policy: 'allow' as const, allow: ['127.0.0.8'] };
    const { result, sink } = await plan({ one: `git::http://${closedHost}/acme/network.git` }, { egress });
    expect(result).toMatchObject({ outcome: 'failed', reason: 'init_failed' });
    expect(sink.text('system')).toContain(
      `${closedHost} wants credentials: bind a git connection whose URL begins with http://${closedHost}/ to the environment or its project`,
    );
  });

  it("make init fail with a message if the server refuses the connection's credentials", async () => {
    const { result, sink } = await plan(
      { one: `git::${origin}/acme/network.git` },
      { moduleSources: [sourceOf('acme', 'mistyped')] },
    );
    expect(result).toMatchObject({ outcome: 'failed', reason: 'init_failed' });
    expect(sink.text().replaceAll('\n', ' ')).toContain(
      'the server refused the credentials of the connection that is bound (401)',
    );
  });

  it.each(['https', 'ssh'])('leave no credential of %s where the code of a template can read', async (scheme) => {
    const isSsh = scheme === 'ssh';
    const url = isSsh ? `ssh://git@127.0.0.1:${ssh.port}/acme/` : `${origin}/acme/`;
    const secret = isSsh ? (key.private.split('\n')[2] ?? '') : password;
    const moduleSources = [isSsh ? overSsh(url) : sourceOf('acme')];
    const look = lookFor(secret);
    const files = { 'main.tf': `${configurationOf({ one: `git::${url}network.git` })}${look}` };
    const planned = await plan({}, { executor: { kind: 'opentofu', files }, moduleSources });
    expect(planned.result, planned.sink.text()).toMatchObject({ outcome: 'succeeded' });
    const outputs = planned.result.plan?.sections.outputs ?? [];
    expect(outputs.find((output) => output.name === 'found')).toMatchObject({ after: 'no, in 1' });
    if (name !== 'opentofu') return;
    // OpenTofu evaluates the sources of modules, so they can read what the sandbox of init has.
    const early = `${configurationOf({ one: `git::${url}network.git`, two: '${local.said}' })}${look}`;
    const initialized = await plan({}, { executor: { kind: 'opentofu', files: { 'main.tf': early } }, moduleSources });
    expect(initialized.result).toMatchObject({ outcome: 'failed', reason: 'init_failed' });
    expect(initialized.sink.text()).toMatch(/no,\s+in\s+1/);
  });
});

function makeDirectory(name: string): string {
  const path = join(certificates, name);
  mkdirSync(path);
  return path;
}

function overSsh(url: string): ModuleSource {
  const credential = { kind: 'ssh_key', privateKey: key.private, knownHosts: ssh.knownHosts } as const;
  return { kind: 'git', url, credential, identity: 'ssh.1' };
}

/** Looks for a text in all files that may hold something, and in one that does. The configuration itself holds it backwards. */
function lookFor(text: string): string {
  const backwards = [...text].reverse().join('');
  return `
locals {
  text  = strrev("${backwards}")
  paths = concat(
    [for p in fileset("/run", "**") : "/run/\${p}"],
    [for p in fileset("/tmp", "**") : "/tmp/\${p}"],
    [for p in fileset("/etc", "*") : "/etc/\${p}"],
    [for p in fileset("\${path.root}", "**") : "\${path.root}/\${p}"],
    ["/proc/self/environ", "/proc/self/cmdline", "/proc/1/environ", "/proc/1/cmdline"],
  )
  found = [for p in local.paths : p if try(strcontains(file(p), local.text), false)]
  own   = strcontains(file("/proc/self/environ"), "TF_IN_AUTOMATION") ? 1 : 0
  said  = "\${length(local.found) == 0 ? "no" : join(",", local.found)}, in \${local.own}"
}
output "found" { value = local.said }
`;
}

function configurationOf(modules: Readonly<Record<string, string>>): string {
  const blocks = Object.entries(modules).map(
    ([name, source]) =>
      `module "${name}" {\n  source = "${source}"\n}\noutput "${name}" { value = module.${name}.name }\n`,
  );
  return blocks.join('');
}

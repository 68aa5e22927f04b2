import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseOutboundPolicy } from '#domain/shared/outbound/outbound-policy.ts';
import { prepareAccess } from '#domain/sources/git/access.ts';
import { snapshotGit } from '#domain/sources/git/snapshot.ts';
import { makeGitRoot, Repository } from '#test/support/programs/git.ts';
import { makeSshKey, type SshGitServer, serveGitOverSsh } from '#test/support/programs/git-over-ssh.ts';

/** The name of a git host over SSH has several addresses. Only 127.0.0.1 has a server. */
const root = makeGitRoot();
const key = makeSshKey();
const policy = parseOutboundPolicy(['127.0.0.0/29']);
let server: SshGitServer;
let other: Server;
let commit: string;
let strangers = 0;

beforeAll(async () => {
  commit = new Repository(join(root.path, 'network.git')).commit({ 'main.tf': 'output "a" { value = 1 }\n' });
  server = await serveGitOverSsh(root.path, key);
  other = createServer((socket) => {
    strangers += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => other.listen(server.port, '127.0.0.9', resolve));
});
afterAll(async () => {
  await server?.close();
  await new Promise((resolve) => other?.close(resolve));
  root.remove();
});

/** Reads the repository by a name that resolves to these addresses the first time, and to another one each later time. */
async function read(addresses: readonly string[]) {
  let asked = 0;
  const credential = {
    kind: 'ssh_key',
    privateKey: key.private,
    knownHosts: server.knownHosts.replace('127.0.0.1', 'git.test'),
  } as const;
  const resolve = async () => (asked++ === 0 ? addresses : ['127.0.0.9']);
  const url = `ssh://git@git.test:${server.port}/network.git/.git`;
  const taken = await snapshotGit({ url, ref: 'main' }, { policy, credential, resolve, timeoutMs: 30_000 });
  return { commit: taken.commit, asked };
}

it.each([
  ['the first answers', ['127.0.0.1', '127.0.0.2']],
  ['only a later one answers', ['127.0.0.2', '127.0.0.3', '127.0.0.1']],
])(
  'a repository over SSH is read at the checked address that answers, if %s, and its name is resolved once',
  async (_which, addresses) => {
    expect(await read(addresses)).toEqual({ commit, asked: 1 });
    expect(strangers).toBe(0);
  },
);

it('a host over SSH is not tried at unchecked addresses if no checked address answers', async () => {
  await expect(read(['127.0.0.2', '127.0.0.3'])).rejects.toMatchObject({
    kind: expect.stringMatching(/un(available|processable)/),
  });
  expect(strangers).toBe(0);
});

it('a host over SSH is refused before any connection if any of its addresses is forbidden', async () => {
  const logins = server.logins();
  for (const addresses of [
    ['127.0.0.1', '127.0.0.9'],
    ['127.0.0.9', '127.0.0.1'],
  ])
    await expect(read(addresses)).rejects.toMatchObject({ kind: 'unprocessable' });
  expect([strangers, server.logins()]).toEqual([0, logins]);
});

it.each([
  ['ssh://git@git.test/a.git', 'git.test'],
  ['ssh://git@git.test:22/a.git', 'git.test'],
  ['ssh://git@git.test:2222/a.git', '[git.test]:2222'],
])('the host of %s is looked up in the known hosts as %s', async (url, alias) => {
  const directory = mkdtempSync(join(tmpdir(), 'git-access-'));
  const credential = { kind: 'ssh_key', privateKey: key.private, knownHosts: '' } as const;
  const destination = { url: new URL(url), addresses: ['127.0.0.1'], mayBePlain: false };
  const environment = await prepareAccess(directory, destination, credential);
  rmSync(directory, { recursive: true });
  expect(environment['GIT_SSH_COMMAND']).toContain(`HostKeyAlias=${alias}'`);
});

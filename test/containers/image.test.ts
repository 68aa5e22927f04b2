import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeTestDirectory } from '#test/support/directories.ts';
import { instruction, readDockerfile, readText, root } from './compose.ts';

const run = promisify(execFile);
const { stages, head } = readDockerfile();
const final = stages['final'] ?? [];

describe('the Dockerfile', () => {
  it('uses the Node version of package.json', () => {
    const { dependencies } = JSON.parse(readText('package.json'));
    expect(head.map(({ text }) => text)).toContain(`NODE_VERSION=${dependencies.node}`);
  });

  it('copies exactly the files that .dockerignore lets through, and they exist', () => {
    const ignored = readText('.dockerignore').split('\n');
    const copied = Object.values(stages)
      .flat()
      .filter(({ name, text }) => name === 'COPY' && !text.startsWith('--from='))
      .flatMap(({ text }) => text.split(' ').slice(0, -1));
    expect(copied.length).toBeGreaterThan(5);
    expect(copied.filter((path) => !existsSync(join(root, path)) || !ignored.includes(`!${path}`))).toEqual([]);
    expect(
      ignored
        .filter((line) => line.startsWith('!'))
        .map((line) => line.slice(1))
        .sort(),
    ).toEqual(copied.sort());
  });

  it('leaves npm in another stage, and copies Node, OpenTofu and the service', () => {
    expect(instruction(final, 'FROM')).toMatch(/^debian:/);
    expect(final.filter(({ name }) => name === 'COPY').map(({ text }) => text)).toEqual([
      '--from=build /usr/local/bin/node /usr/local/bin/node',
      '--from=opentofu /usr/local/bin/tofu /usr/local/bin/tofu',
      '--from=build /app /app',
    ]);
    expect(instruction(final, 'RUN')).not.toMatch(/\b(npm|npx|curl)\b/);
  });

  it('installs the programs that sandboxes and git need, and runs as a user other than root', () => {
    expect(instruction(final, 'RUN')).toMatch(/install .*\bbubblewrap\b.*\bgit\b.*\bopenssh-client\b.*\bsocat\b/);
    expect(instruction(final, 'USER')).toBe('10001:10001');
    expect(instruction(final, 'RUN')).toContain('--uid 10001 --gid 10001');
  });

  it('starts the program with options that this Node version supports', () => {
    const [program = '', ...given] = JSON.parse(instruction(final, 'ENTRYPOINT'));
    const { status, stdout } = spawnSync(program, [...given, ...JSON.parse(instruction(final, 'CMD'))], { cwd: root });
    expect([status, String(stdout)]).toEqual([0, expect.stringContaining('Usage: node src/main.ts')]);
  });
});

describe('installing OpenTofu', () => {
  const answers = new Map<string, Buffer>();
  const server = createServer(({ url = '' }, response) => {
    const content = answers.get(url);
    response.writeHead(content === undefined ? 404 : 200).end(content);
  });
  let releases = '';
  let digest = '';

  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    releases = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => server.close());

  /** Publishes a release for two architectures. `served` may make the archives differ from their checksums. */
  function release(served: (archive: Buffer) => Buffer = (archive) => archive): void {
    const directory = makeTestDirectory();
    writeFileSync(join(directory, 'tofu'), '#!/bin/sh\necho OpenTofu\n', { mode: 0o755 });
    const sums = ['amd64', 'arm64'].map((architecture) => {
      const name = `tofu_1.2.3_linux_${architecture}.tar.gz`;
      spawnSync('tar', ['-czf', name, 'tofu'], { cwd: directory });
      const archive = readFileSync(join(directory, name));
      answers.set(`/v1.2.3/${name}`, served(archive));
      return `${sha256(archive)}  ${name}\n`;
    });
    answers.set('/v1.2.3/tofu_1.2.3_SHA256SUMS', Buffer.from(sums.join('')));
    digest = sha256(sums.join(''));
  }

  async function install(architecture: string, given: string) {
    const directory = join(makeTestDirectory(), 'bin');
    mkdirSync(directory);
    const script = [join(root, 'deploy/install-opentofu.sh'), '1.2.3', architecture, given, directory];
    const env = { ...process.env, OPENTOFU_RELEASES: releases };
    const ended = await run('sh', script, { env }).then(
      ({ stderr }) => ({ code: 0, errors: stderr }),
      ({ code, stderr }) => ({ code, errors: stderr }),
    );
    return { ...ended, isInstalled: existsSync(join(directory, 'tofu')) };
  }

  it.each(['amd64', 'arm64'])('installs the program for %s when every checksum matches', async (architecture) => {
    release();
    expect(await install(architecture, digest)).toMatchObject({ code: 0, isInstalled: true });
  });

  it('installs nothing when the list of checksums does not match its digest', async () => {
    release();
    expect(await install('amd64', sha256('another'))).toMatchObject({ code: 1, isInstalled: false });
  });

  it('installs nothing when the archive does not match its checksum', async () => {
    release((archive) => Buffer.concat([archive, Buffer.from('more')]));
    expect(await install('amd64', digest)).toMatchObject({ code: 1, isInstalled: false });
  });

  it.each(['', 'latest'])('installs nothing and says what is missing when the digest is "%s"', async (given) => {
    const result = await install('amd64', given);
    expect(result).toMatchObject({ code: 1, isInstalled: false });
    expect(result.errors).toContain('OPENTOFU_SHA256SUMS');
  });

  it('installs nothing for an architecture that the release lacks', async () => {
    release();
    expect(await install('riscv64', digest)).toMatchObject({ isInstalled: false });
  });
});

function sha256(content: Buffer | string): string {
  return createHash('sha256').update(content).digest('hex');
}

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32, deflateRawSync } from 'node:zlib';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { installTool, removeTool } from '#worker/tools/install.ts';
import { filesOf, type Publisher, publishers } from '#worker/tools/releases.ts';

const root = mkdtempSync(join(tmpdir(), 'coordinator-test-install-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** The files of a release that the server sends, by their names. */
const served = new Map<string, Buffer>();
const server = createServer(({ url = '' }, answer) => {
  const content = served.get(url.slice(url.lastIndexOf('/') + 1));
  answer.writeHead(content ? 200 : 404).end(content);
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
afterAll(() => server.close());
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

/** Creates a key; returns its fingerprint and a function that signs with it. */
function makeKey(name: string) {
  const home = join(root, name);
  mkdirSync(home, { mode: 0o700 });
  const gpg = (given: string[], input?: Buffer) =>
    execFileSync('gpg', ['--homedir', home, '--batch', '--quiet', '--passphrase', '', ...given], {
      input,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
  gpg(['--quick-generate-key', `${name}@example.com`, 'ed25519', 'sign', 'never']);
  const listed = gpg(['--list-keys', '--with-colons']).toString();
  const fingerprint = /^fpr:+([0-9A-F]{40}):/m.exec(listed)?.[1] ?? '';
  return { fingerprint, exported: gpg(['--export']), sign: (content: Buffer) => gpg(['--detach-sign'], content) };
}

const key = makeKey('publisher');
const publisher: Publisher = {
  ...publishers.opentofu,
  base: `${origin}/download`,
  keyUrl: `${origin}/key.asc`,
  fingerprint: key.fingerprint,
};
const version = '9.1.0';
const files = filesOf(publisher, version);
const script = (says: string) => Buffer.from(`#!/bin/sh\necho '{"terraform_version":"${says}"}'\n`);

/** A ZIP archive of one file. */
function zip(name: string, content: Buffer): Buffer {
  const packed = deflateRawSync(content);
  const common = Buffer.alloc(26);
  common.writeUInt16LE(20, 0);
  common.writeUInt16LE(8, 4);
  common.writeUInt32LE(crc32(content), 10);
  common.writeUInt32LE(packed.length, 14);
  common.writeUInt32LE(content.length, 18);
  common.writeUInt16LE(name.length, 22);
  const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, Buffer.from(name), packed]);
  const entry = Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), common, Buffer.alloc(14), Buffer.from(name)]);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(1, 4);
  end.writeUInt16LE(1, 6);
  end.writeUInt32LE(entry.length, 8);
  end.writeUInt32LE(local.length, 12);
  return Buffer.concat([local, entry, Buffer.from('PK\x05\x06'), end]);
}

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(root, 'tools-'));
  release(zip('tofu', script(version)));
});

/** Serves a release of an archive. */
function release(archive: Buffer): void {
  const digest = createHash('sha256').update(archive).digest('hex');
  const checksums = Buffer.from(`${'0'.repeat(64)}  other.zip\n${digest}  ${files.archive}\n`);
  served.clear();
  served.set('key.asc', key.exported);
  served.set(files.archive, archive);
  served.set(files.checksums, checksums);
  served.set(files.signature, key.sign(checksums));
}

const install = (from: string | null = null) => installTool({ name: 'opentofu', version, directory, publisher, from });
const installed = () => readdirSync(directory, { recursive: true }).filter((path) => String(path).endsWith('/tofu'));

describe('a tool', () => {
  it('is installed from a signed release, for every user, and can be removed', async () => {
    await install();
    const path = join(directory, 'opentofu', version, 'tofu');
    expect(readFileSync(path)).toEqual(script(version));
    expect(statSync(path).mode & 0o777).toBe(0o755);
    expect(readdirSync(directory)).toEqual(['opentofu']);
    await expect(install()).rejects.toThrow(/is there already/);
    await removeTool(directory, 'opentofu', version);
    expect(readdirSync(join(directory, 'opentofu'))).toEqual([]);
  });

  it('is installed from a directory without a network', async () => {
    const from = mkdtempSync(join(root, 'from-'));
    for (const [name, content] of served) writeFileSync(join(from, name), content);
    served.clear();
    await install(from);
    expect(installed().length).toBeGreaterThan(0);
  });

  it.each([
    ['the archive is another one', () => served.set(files.archive, zip('tofu', script('9.1.0-evil'))), /checksum/],
    [
      'the checksums were changed',
      () => served.set(files.checksums, Buffer.concat([served.get(files.checksums) ?? Buffer.of(), Buffer.of(10)])),
      /not signed by the key/,
    ],
    ['the signature is missing', () => served.delete(files.signature), /answers 404/],
    ['the signature is none', () => served.set(files.signature, Buffer.from('nonsense')), /not signed by the key/],
    ['the program says another version', () => release(zip('tofu', script('9.0.0'))), /does not say that it is/],
    ['the archive lacks the program', () => release(zip('README', Buffer.from('hello'))), /no file "tofu"/],
    [
      'the archive is cut off',
      () => release(zip('tofu', script(version)).subarray(0, -30)),
      /cannot be read: it is not an archive/,
    ],
    [
      'another key signed the checksums, although it is served as the key',
      () => {
        const other = makeKey(`other-${Date.now()}`);
        served.set('key.asc', other.exported);
        served.set(files.signature, other.sign(served.get(files.checksums) ?? Buffer.of()));
      },
      /not signed by the key/,
    ],
  ])('is not installed if %s', async (_what, breakIt, message) => {
    breakIt();
    await expect(install()).rejects.toThrow(message);
    expect(installed()).toEqual([]);
  });
});

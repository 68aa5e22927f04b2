import { execFile } from 'node:child_process';
import { createHash, timingSafeEqual } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ToolName } from '#domain/tools/model.ts';
import { discoverTools } from '#executors/client/tools.ts';
import { readZipEntries, readZipEntry } from '#executors/shared/zip.ts';
import { ToolsError } from './errors.ts';
import { filesOf, type Publisher } from './releases.ts';

/** A version of a tool to install. */
interface Installation {
  readonly name: ToolName;
  readonly version: string;
  /** Where tools are kept: `<name>/<version>/<program>`. */
  readonly directory: string;
  readonly publisher: Publisher;
  /** A directory with the files of the release and the key in `key.asc`; null if they are to be downloaded. */
  readonly from: string | null;
}

const maxArchiveBytes = 300 * 1024 * 1024;
const maxProgramBytes = 512 * 1024 * 1024;
const maxTextBytes = 1024 * 1024;
const keyFile = 'key.asc';

/**
 * Installs a tool if its archive has the checksum that its publisher signed.
 * @throws ToolsError saying what does not match; then nothing was installed
 */
export async function installTool(installation: Installation): Promise<void> {
  const { name, version, directory, publisher } = installation;
  const place = join(directory, name, version);
  if (await stat(place).catch(() => null)) throw new ToolsError(`${name} ${version} is there already: ${place}`);
  const files = filesOf(publisher, version);
  const [checksums, signature, key] = await Promise.all([
    obtain(installation, files.checksums, maxTextBytes),
    obtain(installation, files.signature, maxTextBytes),
    obtain(installation, keyFile, maxTextBytes),
  ]);
  await verifySignature({ content: checksums, signature, key, fingerprint: publisher.fingerprint });
  const archive = await obtain(installation, files.archive, maxArchiveBytes);
  checkDigest(archive, files.archive, checksums.toString());
  await putInPlace(installation, place, await readProgram(archive, publisher.program));
}

/** Removes a version. Attempts that use it continue. @throws ToolsError if it is not installed */
export async function removeTool(directory: string, name: ToolName, version: string): Promise<void> {
  const place = join(directory, name, version);
  if (!(await stat(place).catch(() => null))) throw new ToolsError(`${name} ${version} is not in ${directory}.`);
  await rm(place, { recursive: true });
}

async function readProgram(archive: Buffer, name: string): Promise<Buffer> {
  try {
    const entry = readZipEntries(archive).get(name);
    if (entry) return await readZipEntry(archive, entry, maxProgramBytes);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ToolsError(`The archive cannot be read: ${why}. Nothing was installed.`);
  }
  throw new ToolsError(`The archive has no file "${name}": nothing was installed.`);
}

/** Moves the program to its place in one step, so that no worker sees a part of it, and checks the version that it reports. */
async function putInPlace({ name, version, directory, publisher }: Installation, place: string, program: Buffer) {
  await mkdir(join(directory, name), { recursive: true, mode: 0o755 });
  const incoming = await mkdtemp(join(directory, 'incoming-'));
  try {
    await writeFile(join(incoming, publisher.program), program);
    await chmod(join(incoming, publisher.program), 0o755);
    await chmod(incoming, 0o755);
    await rename(incoming, place);
  } finally {
    await rm(incoming, { recursive: true, force: true });
  }
  const found = await discoverTools({ searchPath: '', directory });
  if (found.some((tool) => tool.name === name && tool.version === version)) return;
  await rm(place, { recursive: true });
  throw new ToolsError(`The program does not say that it is ${name} ${version}: it was removed again.`);
}

function checkDigest(archive: Buffer, name: string, checksums: string): void {
  const line = checksums.split('\n').find((each) => each.trim().split(/\s+/)[1]?.replace(/^\*/, '') === name);
  const expected = Buffer.from(line?.trim().split(/\s+/)[0] ?? '', 'hex');
  const actual = createHash('sha256').update(archive).digest();
  if (expected.length === actual.length && timingSafeEqual(expected, actual)) return;
  throw new ToolsError(`${name} does not have the checksum that its publisher signed: nothing was installed.`);
}

async function obtain({ from, publisher, version }: Installation, name: string, maxBytes: number): Promise<Buffer> {
  if (from !== null) {
    return readFile(join(from, name)).catch(() => {
      throw new ToolsError(`${join(from, name)} cannot be read: expected the files of the release, and ${keyFile}.`);
    });
  }
  const url = name === keyFile ? publisher.keyUrl : `${publisher.base}/${publisher.directoryOf(version)}/${name}`;
  return download(url, maxBytes);
}

async function download(url: string, maxBytes: number): Promise<Buffer> {
  const answer = await fetch(url).catch((error: unknown) => {
    throw new ToolsError(
      `${url} cannot be reached: ${String(error instanceof Error ? (error.cause ?? error) : error)}`,
    );
  });
  if (!answer.ok || answer.body === null) throw new ToolsError(`${url} answers ${answer.status}.`);
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of answer.body) {
    size += piece.length;
    if (size > maxBytes) throw new ToolsError(`${url} has more than ${maxBytes} bytes.`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

interface Signed {
  readonly content: Buffer;
  readonly signature: Buffer;
  /** One or more public keys. */
  readonly key: Buffer;
  /** The fingerprint of the only key whose signatures count. */
  readonly fingerprint: string;
}

/** @throws ToolsError unless the key with that fingerprint has signed the content, and has neither expired nor been revoked */
async function verifySignature({ content, signature, key, fingerprint }: Signed): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), 'coordinator-gpg-'));
  try {
    const [keyFile, contentFile, signatureFile] = [join(home, 'key'), join(home, 'content'), join(home, 'signature')];
    await Promise.all([writeFile(keyFile, key), writeFile(contentFile, content), writeFile(signatureFile, signature)]);
    await gpg(home, ['--import', keyFile]);
    const status = await gpg(home, ['--status-fd', '1', '--verify', signatureFile, contentFile]);
    if (isSignedBy(status, fingerprint)) return;
    throw new ToolsError(`The checksums are not signed by the key ${fingerprint}: nothing was installed.`);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

/** Whether the signature is good. A good signature of an expired or a revoked key has another status than GOODSIG. */
function isSignedBy(status: string, fingerprint: string): boolean {
  const lines = status.split('\n').map((line) => line.split(' '));
  const isGood = lines.some(([, word]) => word === 'GOODSIG');
  const valid = lines.filter(([, word]) => word === 'VALIDSIG');
  return isGood && valid.length === 1 && valid.every((words) => words.at(-1) === fingerprint);
}

/** The standard output of gpg; empty if it fails. */
async function gpg(home: string, given: readonly string[]): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)('gpg', ['--homedir', home, '--batch', '--no-tty', ...given]);
    return stdout;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
      throw new ToolsError('gpg is not on the PATH, and without it no signature can be verified: install GnuPG.');
    return '';
  }
}

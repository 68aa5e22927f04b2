import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ToolsError } from './errors.ts';

interface Signed {
  readonly content: Buffer;
  readonly signature: Buffer;
  /** One or more public keys. */
  readonly key: Buffer;
  /** The fingerprint of the only key whose signatures count. */
  readonly fingerprint: string;
}

/** @throws ToolsError unless the key with that fingerprint has signed the content, and has neither expired nor been revoked */
export async function verifySignature({ content, signature, key, fingerprint }: Signed): Promise<void> {
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

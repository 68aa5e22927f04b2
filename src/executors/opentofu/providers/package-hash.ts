import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { listUntrustedFiles } from '../../sandbox/untrusted-files.ts';

const maxFiles = 10_000;
const pieceBytes = 1024 * 1024;

export interface SealedPackage {
  /** The checksum of the tools over an unpacked package: `h1:…`. */
  readonly hash: string;
  readonly bytes: number;
}

/**
 * Computes the checksum of an unpacked package, takes away all rights to write its files, and syncs them to the disk. No other process may be
 * able to change it any more.
 * @throws Error if it contains anything but files and directories
 */
export async function sealPackage(root: string): Promise<SealedPackage> {
  const files = await listUntrustedFiles(root, '', maxFiles);
  const names = files.map(({ path }) => path).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const other = files.find(({ isRegular, path }) => !isRegular || path.includes('\n'));
  if (other !== undefined) throw new Error(`"${other.path}" is not a regular file`);
  const whole = createHash('sha256');
  let bytes = 0;
  for (const name of names) {
    const sealed = await sealFile(join(root, name));
    whole.update(`${sealed.digest}  ${name}\n`);
    bytes += sealed.bytes;
  }
  return { hash: `h1:${whole.digest('base64')}`, bytes };
}

async function sealFile(path: string): Promise<{ digest: string; bytes: number }> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const { mode } = await file.stat();
    await file.chmod((mode & 0o111) === 0 ? 0o444 : 0o555);
    const digested = await digest(file);
    await file.sync();
    return digested;
  } finally {
    await file.close();
  }
}

async function digest(file: FileHandle): Promise<{ digest: string; bytes: number }> {
  const hash = createHash('sha256');
  const piece = Buffer.allocUnsafe(pieceBytes);
  let bytes = 0;
  for (;;) {
    const { bytesRead } = await file.read(piece, 0, pieceBytes, bytes);
    if (bytesRead === 0) return { digest: hash.digest('hex'), bytes };
    hash.update(piece.subarray(0, bytesRead));
    bytes += bytesRead;
  }
}

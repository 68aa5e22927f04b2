import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { FileContent } from '#domain/registry/files.ts';
import { AttemptFailure } from '../shared/errors.ts';

const reservedNames = ['.terraform', 'terraform.d'];
const privateFile = 0o600;
const executableFile = 0o700;

/** Writes a private file, executable if it begins with `#!`. Fails if the file exists. */
export async function writeInput(path: string, content: string | Buffer): Promise<void> {
  const bytes = Buffer.from(content);
  const mode = bytes.subarray(0, 2).toString('latin1') === '#!' ? executableFile : privateFile;
  await writeFile(path, bytes, { mode, flag: 'wx' });
}

/** Maps a template's files to paths below a job's work directory. @throws AttemptFailure `files_invalid` */
export function toWorkFiles(files: Readonly<Record<string, FileContent>>): Map<string, Buffer> {
  const laidOut = new Map<string, Buffer>();
  for (const [path, content] of Object.entries(files)) {
    if (path.split('/').some((name) => reservedNames.includes(name))) {
      throw new AttemptFailure('files_invalid', `the file "${path}" has a name that is reserved for the tool`);
    }
    if (!resolve('/work', path).startsWith('/work/') || path.includes('\0')) {
      throw new AttemptFailure('files_invalid', `the file "${path}" is outside the template's root`);
    }
    laidOut.set(
      `work/${path}`,
      typeof content === 'string' ? Buffer.from(content) : Buffer.from(content.base64, 'base64'),
    );
  }
  return laidOut;
}

import { symlink, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { bytesOf, hasShebang, isExecutable, isLink, type TemplateFiles } from '#domain/sources/files.ts';
import { lookUpIn, parentsOf, resolvePath } from '#domain/sources/links.ts';
import { AttemptFailure } from '../shared/errors.ts';

const reservedNames = ['.terraform', 'terraform.d'];
const privateFile = 0o600;
const executableFile = 0o700;

/** A file of a job: its content, which is executable if it begins with `#!`, or an explicit flag. */
export type JobFile = string | Buffer | { readonly bytes: Buffer; readonly isExecutable: boolean } | JobLink;

/** A symbolic link to another file or directory of the job. */
export interface JobLink {
  readonly link: string;
}

export function isJobLink(file: JobFile): file is JobLink {
  return typeof file === 'object' && 'link' in file;
}

/** The bytes of a file; for a link, those of its target path. */
export function jobFileBytes(file: JobFile): Buffer {
  if (typeof file === 'string') return Buffer.from(file);
  if (Buffer.isBuffer(file)) return file;
  return 'link' in file ? Buffer.from(file.link) : file.bytes;
}

/** Writes a private file or a link. Fails if there is one already. */
export async function writeInput(path: string, file: JobFile): Promise<void> {
  if (isJobLink(file)) return symlink(file.link, path);
  const bytes = jobFileBytes(file);
  const hasMode = typeof file === 'object' && 'isExecutable' in file;
  const canExecute = hasMode ? file.isExecutable : hasShebang(bytes);
  await writeFile(path, bytes, { mode: canExecute ? executableFile : privateFile, flag: 'wx' });
}

/** Maps a template's files to paths below a job's work directory. @throws AttemptFailure `files_invalid` */
export function toWorkFiles(files: TemplateFiles): Map<string, JobFile> {
  const laidOut = new Map<string, JobFile>();
  const lookUp = lookUpIn(files);
  for (const [path, content] of Object.entries(files)) {
    if (path.split('/').some((name) => reservedNames.includes(name))) {
      throw new AttemptFailure('files_invalid', `the file "${path}" has a name that is reserved for the tool`);
    }
    if (!resolve('/work', path).startsWith('/work/') || path.includes('\0')) {
      throw new AttemptFailure('files_invalid', `the file "${path}" is outside the template's root`);
    }
    // Nothing is ever written through a link.
    if (parentsOf(path).some((parent) => Object.hasOwn(files, parent))) {
      throw new AttemptFailure('files_invalid', `the file "${path}" needs a directory where there is a file or a link`);
    }
    if (isLink(content) && resolvePath(path, lookUp) === null) {
      throw new AttemptFailure('files_invalid', `the link "${path}" does not lead to a file of the template`);
    }
    laidOut.set(
      `work/${path}`,
      isLink(content) ? content : { bytes: bytesOf(content), isExecutable: isExecutable(content) },
    );
  }
  return laidOut;
}

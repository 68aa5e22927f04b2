/** Rules for the names and sizes of a template's files (docs/writing-templates.md, *Files from git*). */

/** The mode of a file from git: whether it is executable, independent of its content. */
type FileMode = { executable?: boolean | undefined };

/**
 * A file's text, or its bytes if it is not storable as text, or a symbolic link to a file or directory among the files. A file without a
 * mode is executable in a run if it begins with `#!`. Files in a spec have no mode.
 */
export type FileContent = string | ({ text: string } & FileMode) | ({ base64: string } & FileMode) | { link: string };
export type TemplateFiles = Record<string, FileContent>;

export type FileLimits = { readonly files: number; readonly bytes: number };

/** For files in the spec itself. The whole request is at most 1 MiB. */
export const inlineLimits: FileLimits = { files: 500, bytes: 1024 * 1024 };

/** For files from git. */
export const snapshotLimits: FileLimits = { files: 2_000, bytes: 16 * 1024 * 1024 };

const maxPathLength = 512;
const maxNameLength = 255;

/** Names that git and OpenTofu use themselves, refused at any depth. */
const reservedNames = [/^\.git$/i, /^\.terraform$/i];
/** Names of state files: a version that contained a state could deploy from that state. */
const stateName = /^terraform\.tfstate(\..*)?$/i;

/** The files that a run of a command template writes beside the template's files. */
export const commandFiles = ['variables.json', 'outputs.json', 'plan.json', 'state.json'] as const;

/**
 * The problem of a relative path, as the end of a sentence; null if it is valid. Paths are written with `/`, stay below their root, and
 * mean the same on every file system.
 */
export function checkFilePath(path: string): string | null {
  if (path === '') return 'must not be empty: expected a relative path such as "modules/network/main.tf"';
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path)) return 'must be relative, such as "modules/network/main.tf"';
  if (path.includes('\\')) return 'must be written with "/" and without "\\"';
  if (/[\u0000-\u001f\u007f]/.test(path) || !path.isWellFormed()) return 'must have no control characters';
  if (Buffer.byteLength(path) > maxPathLength) return `must have at most ${maxPathLength} bytes`;
  for (const name of path.split('/')) {
    if (name === '') return 'must not have an empty part: write one "/" between names and none at the end';
    if (name === '.' || name === '..') return 'must not contain "." or "..": expected the path from the root down';
    if (Buffer.byteLength(name) > maxNameLength) return `must have at most ${maxNameLength} bytes between two "/"`;
    if (reservedNames.some((reserved) => reserved.test(name))) return `must not contain "${name}", which is reserved`;
    if (stateName.test(name)) return `must not contain "${name}", which is reserved: import a state into an instance`;
  }
  return null;
}

export type FileProblem = { path: string | null; message: string };

/** All problems of a set of files: their names, conflicting paths, number and size. */
export function checkFiles(files: TemplateFiles, limits: FileLimits): FileProblem[] {
  const paths = Object.keys(files);
  const problems: FileProblem[] = [];
  if (paths.length > limits.files) problems.push({ path: null, message: `has more than ${limits.files} files` });
  const bytes = Object.values(files).reduce((sum, content) => sum + sizeOf(content), 0);
  if (bytes > limits.bytes) problems.push({ path: null, message: `has more than ${limits.bytes} bytes in its files` });
  for (const [path, content] of Object.entries(files)) {
    const message = checkFilePath(path) ?? checkConflict(path, files) ?? checkContent(content);
    if (message !== null) problems.push({ path, message });
  }
  return problems;
}

/** Whether PostgreSQL can store a text: it takes neither NUL nor half a surrogate pair. */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** The size of a file in bytes; of a link, the length of its target. */
export function sizeOf(content: FileContent): number {
  return isBinary(content) ? Math.floor((content.base64.length * 3) / 4) : Buffer.byteLength(textOf(content));
}

/** The bytes of a file; of a link, its target. */
export function bytesOf(content: FileContent): Buffer {
  return isBinary(content) ? Buffer.from(content.base64, 'base64') : Buffer.from(textOf(content));
}

/** The text of a file, with replacement characters for bytes that are not text; of a link, its target. */
export function textOf(content: FileContent): string {
  if (typeof content === 'string') return content;
  if ('link' in content) return content.link;
  return 'text' in content ? content.text : Buffer.from(content.base64, 'base64').toString();
}

export function isLink(content: FileContent): content is { link: string } {
  return typeof content === 'object' && 'link' in content;
}

/** Whether a file is stored as bytes because it is not text. */
export function isBinary(content: FileContent): content is { base64: string } & FileMode {
  return typeof content === 'object' && 'base64' in content;
}

/** Whether a run may execute a file. */
export function isExecutable(content: FileContent): boolean {
  if (typeof content === 'object' && 'link' in content) return false;
  const mode = typeof content === 'string' ? undefined : content.executable;
  return mode ?? hasShebang(bytesOf(content));
}

/** Whether a file names the program that executes it. */
export function hasShebang(content: Buffer): boolean {
  return content.subarray(0, 2).toString('latin1') === '#!';
}

function checkConflict(path: string, files: TemplateFiles): string | null {
  const names = path.split('/');
  const parent = names.slice(1).map((_, index) => names.slice(0, index + 1).join('/'));
  const conflict = parent.find((directory) => Object.hasOwn(files, directory));
  return conflict === undefined ? null : `needs a directory "${conflict}", but that is a file`;
}

function checkContent(content: FileContent): string | null {
  if (typeof content !== 'string' || isStorableText(content)) return null;
  return 'must be text without NUL characters; a binary file needs a git source';
}

import { type FileContent, isLink, type TemplateFiles } from './files.ts';

/** Symbolic links among the files of a template. Pure. */

/** What is at a path: a link with its target, a file, or a directory; undefined if there is nothing. */
export type LookUp = (path: string) => { readonly link: string } | 'file' | 'directory' | undefined;

/** Where a path leads to, and the links on the way. */
export interface Resolved {
  readonly path: string;
  readonly kind: 'file' | 'directory';
  readonly links: readonly string[];
}

/** The maximum number of links on a path; the kernel has the same limit. */
const maxLinks = 40;
/** The maximum number of names that one path passes through, including those of links. Only a malicious path passes through more. */
const maxSteps = 512;

/**
 * Follows a path from the root (`''`) as the kernel does: `..` after a link starts from the link's target. Null if the path leaves the
 * root, leads to nothing, or loops.
 */
export function resolvePath(path: string, lookUp: LookUp): Resolved | null {
  const links: string[] = [];
  const rest = namesOf(path).reverse();
  let at = '';
  for (let steps = 0; rest.length > 0; steps++) {
    const name = rest.pop() ?? '';
    if (steps + rest.length > maxSteps) return null;
    if (name === '..') {
      if (at === '') return null;
      at = at.slice(0, Math.max(0, at.lastIndexOf('/')));
      continue;
    }
    const next = at === '' ? name : `${at}/${name}`;
    const found = lookUp(next);
    if (found === undefined || (found === 'file' && rest.length > 0)) return null;
    if (typeof found === 'string') {
      at = next;
      continue;
    }
    links.push(next);
    if (links.length > maxLinks || found.link.startsWith('/') || found.link === '') return null;
    rest.push(...namesOf(found.link).reverse());
  }
  const kind = at === '' ? 'directory' : lookUp(at);
  return kind === 'file' || kind === 'directory' ? { path: at, kind, links } : null;
}

/** The names of a path, up to a number above the limit. */
function namesOf(path: string): string[] {
  return path.split('/', 2 * maxSteps).filter((name) => name !== '' && name !== '.');
}

/** Looks paths up among the files of a template. */
export function lookUpIn(files: TemplateFiles): LookUp {
  const directories = new Set(Object.keys(files).flatMap(parentsOf));
  return (path) => {
    const content = Object.hasOwn(files, path) ? files[path] : undefined;
    if (content !== undefined) return isLink(content) ? content : 'file';
    return directories.has(path) ? 'directory' : undefined;
  };
}

/** The directories above a path, from the root down. */
export function parentsOf(path: string): string[] {
  const found: string[] = [];
  for (let end = path.indexOf('/'); end !== -1; end = path.indexOf('/', end + 1)) found.push(path.slice(0, end));
  return found;
}

/** A file in a directory, after its links were followed. */
export interface SeenFile {
  readonly name: string;
  /** The path by which it was found, before links. */
  readonly path: string;
  readonly content: FileContent;
}

/**
 * The files directly in a directory (`''`: the root), including those behind links. Links that lead to no file are left out. The caller
 * must not change the files.
 */
export function readDirectory(files: TemplateFiles, directory: string): SeenFile[] {
  const lookUp = lookUpOf(files);
  const found = resolvePath(directory, lookUp);
  if (found?.kind !== 'directory') return [];
  const prefix = found.path === '' ? '' : `${found.path}/`;
  const asked = directory === '' ? '' : `${directory}/`;
  return Object.keys(files).flatMap((path) => {
    const name = path.startsWith(prefix) ? path.slice(prefix.length) : '';
    if (name === '' || name.includes('/')) return [];
    const content = contentAt(files, path, lookUp);
    return content === null ? [] : [{ name, path: `${asked}${name}`, content }];
  });
}

/**
 * All files, including the targets of links to files at the paths of the links. Links to directories are left out, because their files also
 * exist in the target directory.
 */
export function readFiles(files: TemplateFiles): SeenFile[] {
  const lookUp = lookUpOf(files);
  return Object.keys(files).flatMap((path) => {
    const content = contentAt(files, path, lookUp);
    return content === null ? [] : [{ name: path.slice(path.lastIndexOf('/') + 1), path, content }];
  });
}

/** The directory to which a path leads after links; null if it leads to none. */
export function directoryAt(files: TemplateFiles, path: string): string | null {
  const found = resolvePath(path, lookUpOf(files));
  return found?.kind === 'directory' ? found.path : null;
}

function contentAt(files: TemplateFiles, path: string, lookUp: LookUp): FileContent | null {
  const content = files[path] ?? '';
  if (!isLink(content)) return content;
  const found = resolvePath(path, lookUp);
  return found?.kind === 'file' ? (files[found.path] ?? null) : null;
}

const known = new WeakMap<TemplateFiles, LookUp>();

/** The lookup is cached by the files, because readers request one directory after the other. */
function lookUpOf(files: TemplateFiles): LookUp {
  const lookUp = known.get(files) ?? lookUpIn(files);
  known.set(files, lookUp);
  return lookUp;
}

import { posix } from 'node:path';
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

/** As many as the kernel follows. */
const maxLinks = 40;
/** Directories that links repeat may nest, so the files that a reader sees through links are limited. */
const maxFollowed = 20_000;
/** What readers see through links together, in UTF-16 units: they read it all. */
const maxFollowedLength = 32 * 1024 * 1024;

/** Many readers ask for the same files, one directory after the other. Nobody changes the files of a template. */
const followed = new WeakMap<TemplateFiles, TemplateFiles>();

/**
 * Follows a path from the root (`''`) as the kernel does, which takes `..` from where a link leads to. Null if it leaves the root,
 * leads to nothing, or goes in a circle.
 */
export function resolvePath(path: string, lookUp: LookUp): Resolved | null {
  const links: string[] = [];
  const rest = path.split('/').reverse();
  let at: string[] = [];
  while (rest.length > 0) {
    const name = rest.pop();
    if (name === undefined || name === '' || name === '.') continue;
    if (name === '..') {
      if (at.length === 0) return null;
      at = at.slice(0, -1);
      continue;
    }
    const next = [...at, name].join('/');
    const found = lookUp(next);
    if (found === undefined || (found === 'file' && rest.some((each) => each !== '' && each !== '.'))) return null;
    if (typeof found === 'string') {
      at.push(name);
      continue;
    }
    links.push(next);
    if (links.length > maxLinks || found.link.startsWith('/') || found.link === '') return null;
    rest.push(...found.link.split('/').reverse());
  }
  const end = at.join('/');
  const kind = end === '' ? 'directory' : lookUp(end);
  return kind === 'file' || kind === 'directory' ? { path: end, kind, links } : null;
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
  const names = path.split('/');
  return names.slice(1).map((_, index) => names.slice(0, index + 1).join('/'));
}

/**
 * The files as readers see them, with what links lead to at the paths of the links. Links that lead nowhere, and those in a directory to which a
 * link has led already, are left out.
 */
export function followLinks(files: TemplateFiles): TemplateFiles {
  const known = followed.get(files) ?? followEach(files);
  followed.set(files, known);
  return known;
}

function followEach(files: TemplateFiles): TemplateFiles {
  const links = Object.entries(files).flatMap(([path, content]) => (isLink(content) ? [path] : []));
  if (links.length === 0) return files;
  const lookUp = lookUpIn(files);
  const plain = Object.entries(files).filter(([, content]) => !isLink(content));
  const seen: TemplateFiles = Object.fromEntries(plain);
  let left = maxFollowed;
  let room = maxFollowedLength;
  for (const path of links) {
    const target = resolvePath(path, lookUp);
    if (target === null) continue;
    const prefix = target.path === '' ? '' : `${target.path}/`;
    for (const [other, content] of plain) {
      if (target.kind === 'file' ? other !== target.path : !other.startsWith(prefix)) continue;
      room -= lengthOf(content);
      if (--left < 0 || room < 0) return seen;
      seen[target.kind === 'file' ? path : posix.join(path, other.slice(prefix.length))] = content;
    }
  }
  return seen;
}

function lengthOf(content: FileContent): number {
  if (typeof content === 'string') return content.length;
  if ('base64' in content) return content.base64.length;
  return 'text' in content ? content.text.length : 0;
}

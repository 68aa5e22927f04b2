import { chmod, lstat, mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { z } from 'zod';
import {
  findChanged,
  type KeptModules,
  keptModulesLimits,
  type ResolvedModule,
} from '#domain/registry/kept-modules/model.ts';
import { canonicalJson } from '#domain/shared/commands/canonical.ts';
import { sha256 } from '../../attempt/artifact.ts';
import { listUntrustedFiles, readUntrustedFile, readUntrustedLink } from '../../sandbox/untrusted-files.ts';
import { AttemptFailure } from '../../shared/errors.ts';
import { dataDirectory, digestLink } from './configuration.ts';

/** The modules of a version, without its lock files. */
export type ResolvedModules = Omit<KeptModules, 'locks'>;

export const noModules: ResolvedModules = { digest: '', list: [], content: null };

const directory = 'modules';
const manifestFile = 'modules.json';
const maxManifestBytes = 4 * 1024 * 1024;
const prefix = `${dataDirectory}/${directory}/`;

const Manifest = z.object({
  Modules: z.array(z.object({ Key: z.string(), Source: z.string(), Version: z.string().optional(), Dir: z.string() })),
});
const Packed = z.object({
  files: z.array(z.object({ path: z.string(), kind: z.enum(['file', 'program', 'link']), content: z.string() })),
});
type PackedFile = z.output<typeof Packed>['files'][number];

/**
 * Removes the `.git` directories of the modules, because they differ after every fetch of the same commit. Does not follow links in their
 * places.
 */
export async function removeGitDirectories(data: string): Promise<void> {
  const modules = join(data, directory);
  const found = await lstat(modules).catch(() => null);
  if (!found?.isDirectory()) return;
  const names = await readdir(modules, { withFileTypes: true });
  for (const entry of names.filter((each) => each.isDirectory()))
    await rm(join(modules, entry.name, '.git'), { recursive: true, force: true });
}

/** Writes the files of the modules that an earlier run of the version resolved, so that `init` need not fetch them. */
export async function restoreModules(data: string, content: Buffer): Promise<void> {
  const files = await unpack(content);
  const root = join(data, directory);
  const links = new Set(files.filter(({ kind }) => kind === 'link').map(({ path }) => join(root, path)));
  for (const { path, kind, content: text } of files) {
    const target = join(root, path);
    if (!target.startsWith(`${root}/`)) throw new Error('a kept module has a file outside of its directory');
    if (parentsOf(target, root).some((parent) => links.has(parent)))
      throw new Error('a kept module has a file behind a link');
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    if (kind === 'link') await symlink(text, target);
    else await writeFile(target, Buffer.from(text, 'base64'), { flag: 'wx', mode: kind === 'program' ? 0o700 : 0o600 });
    if (kind === 'program') await chmod(target, 0o700);
  }
}

async function unpack(content: Buffer): Promise<PackedFile[]> {
  const unpacked = await promisify(gunzip)(content, { maxOutputLength: 4 * keptModulesLimits.bytes });
  return Packed.parse(JSON.parse(unpacked.toString())).files;
}

/** Whether stored modules have a digest. Those of an earlier release may have the digest that left out the targets of links. */
export async function areModulesOf({ digest, content }: ResolvedModules, wanted: string): Promise<boolean> {
  if (digest === wanted) return true;
  if (content === null) return false;
  const digests = (await unpack(content)).map(({ path, kind, content: text }) => {
    const digested = kind === 'link' ? digestLink(Buffer.from(text)) : sha256(Buffer.from(text, 'base64'));
    return [path, digested] as const;
  });
  return sha256(canonicalJson(Object.fromEntries(digests))) === wanted;
}

/** The directories between `root` and a path below it. */
function parentsOf(path: string, root: string): string[] {
  const names = path.slice(root.length + 1).split('/');
  return names.slice(1).map((_, index) => join(root, ...names.slice(0, index + 1)));
}

/**
 * Packs the modules from elsewhere with their files, to be stored with the version. Null if there are none.
 * @throws if they are too many to be listed: if only some of them were stored, the others could change
 */
export async function packModules(data: string, digest: string): Promise<ResolvedModules | null> {
  const found = await readModules(data);
  const { packages: max } = keptModulesLimits;
  if (found !== null && found.list.length > max)
    throw new Error(`they are ${found.list.length} packages, and at most ${max} can be listed`);
  // An earlier release made this initialization, and left the `.git` directories in place.
  if (found === null || found.hasGit) return null;
  return { digest, list: found.list, content: await pack(found.files) };
}

/**
 * Compares what `init` resolved with what the version used before.
 * @throws AttemptFailure `modules_changed` naming the module
 */
export async function verifyModules(data: string, kept: Pick<KeptModules, 'list'>): Promise<void> {
  const changed = findChanged(kept.list, (await readModules(data))?.list ?? []);
  if (changed === undefined) return;
  const { was, is } = changed;
  throw new AttemptFailure(
    'modules_changed',
    `the module "${is.key}" (${is.source}) is another one than before: this version used ${was.digest}, and its source has ${is.digest} now: name a commit or a version in the source, and publish a new version`,
  );
}

interface Found {
  readonly list: ResolvedModule[];
  readonly files: PackedFile[] | null;
  readonly hasGit: boolean;
}

async function readModules(data: string): Promise<Found | null> {
  const manifest = await readUntrustedFile(data, `${directory}/${manifestFile}`, maxManifestBytes);
  if (manifest === null) return null;
  const modules = Manifest.parse(JSON.parse(manifest.toString())).Modules;
  const packages = new Map<string, (typeof modules)[number]>();
  for (const module of modules) {
    const name = packageOf(module.Dir);
    const known = name === null ? undefined : packages.get(name);
    // The shortest key of a package belongs to the module call that fetched it.
    if (name !== null && (known === undefined || module.Key.length < known.Key.length)) packages.set(name, module);
  }
  if (packages.size === 0) return null;
  const digests = new Map([...packages.keys()].map((name) => [name, new Map<string, string>()]));
  let hasGit = false;
  const files = await readFiles(data, (path, digest) => {
    hasGit ||= /^[^/]+\/\.git(?:\/|$)/.test(path);
    const name = path.split('/')[0] ?? '';
    digests.get(name)?.set(path.slice(name.length + 1), digest);
  });
  const list = [...packages].map(([name, module]) => ({
    key: module.Key,
    source: module.Source,
    version: module.Version ? module.Version : null,
    digest: sha256(canonicalJson(Object.fromEntries(digests.get(name) ?? []))),
  }));
  return { list, files, hasGit };
}

/** The name of the directory below `.terraform/modules` that contains a module; null for a module of the template itself. */
function packageOf(path: string): string | null {
  const normal = posix.normalize(path);
  return normal.startsWith(prefix) ? (normal.slice(prefix.length).split('/')[0] ?? null) : null;
}

/** All files of the modules; null if they are too many or too large. */
async function readFiles(data: string, take: (path: string, digest: string) => void): Promise<PackedFile[] | null> {
  const found = await listUntrustedFiles(data, directory, 50_000);
  const files: PackedFile[] = [];
  let bytes = 0;
  for (const { path, isRegular } of found) {
    const at = join(data, directory, path);
    const isKept = files.length < keptModulesLimits.files && bytes <= keptModulesLimits.bytes;
    if (isRegular) {
      const content =
        (await readUntrustedFile(data, `${directory}/${path}`, keptModulesLimits.bytes)) ?? Buffer.alloc(0);
      const isProgram = ((await lstat(at)).mode & 0o100) !== 0;
      bytes += content.length;
      take(path, sha256(content));
      if (isKept) files.push({ path, kind: isProgram ? 'program' : 'file', content: content.toString('base64') });
    } else {
      const target = (await readUntrustedLink(data, `${directory}/${path}`)).toString();
      take(path, `link ${target}`);
      if (isKept) files.push({ path, kind: 'link', content: target });
    }
  }
  return files.length === found.length && bytes <= keptModulesLimits.bytes ? files : null;
}

async function pack(files: PackedFile[] | null): Promise<Buffer | null> {
  if (files === null) return null;
  const packed = await promisify(gzip)(JSON.stringify({ files }));
  return packed.length > keptModulesLimits.packed ? null : packed;
}

import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Unavailable, Unprocessable } from '#domain/shared/errors.ts';
import { checkOutbound, type Resolve } from '#domain/shared/outbound/outbound.ts';
import type { OutboundPolicy } from '#domain/shared/outbound/outbound-policy.ts';
import { ShareLimit } from '#domain/shared/tasks/share-limit.ts';
import { YieldingPlaces } from '#domain/shared/tasks/yielding-places.ts';
import { type FileLimits, snapshotLimits } from '../files.ts';
import { type GitCredential, prepareAccess } from './access.ts';
import { makeGitDirectory } from './directories.ts';
import { type GitContents, parseTree, type TreeEntry } from './entries.ts';
import { explainGit } from './errors.ts';
import { type Git, type GitOutcome, type GitPlace, GitStopped, runGit } from './process.ts';
import { type CollectedFiles, collectFiles } from './tree.ts';
import { giveToGit } from './user.ts';

/** The content of a git repository that one template version stores (docs/writing-templates.md, *Files from git*). */
export type GitSnapshot = {
  /** The commit that the ref named. */
  readonly commit: string;
} & CollectedFiles;

export type SnapshotOptions = {
  readonly policy: OutboundPolicy;
  readonly credential?: GitCredential;
  readonly limits?: FileLimits;
  /** The largest size, in bytes, of the whole repository at the commit, as git packs it. */
  readonly maxPackBytes?: number;
  readonly timeoutMs?: number;
  readonly resolve?: Resolve;
  /** The parties for which the repository is read, such as a caller and an organization. Each occupies at most a share of the places. */
  readonly holders?: readonly string[];
  /** How long this keeps its place while others wait for one. */
  readonly keepsPlaceMs?: number;
};

const defaultTimeoutMs = 60_000;
const defaultMaxPackBytes = 256 * 1024 * 1024;
const maxListingBytes = 32 * 1024 * 1024;
/** After this time, a repository loses its place to the next one that needs it. */
const defaultKeepsPlaceMs = 10_000;
const shares = new ShareLimit({
  max: 2,
  refusal: 'two repositories of yours, or of this owner, are being read at this moment: try again soon',
});
const places = new YieldingPlaces({
  max: 6,
  waitsMs: 30_000,
  refusal: 'too many repositories are being read at this moment: try again soon',
});

/**
 * Fetches one ref with `git` and returns the template's files. The ref is a branch, a tag or a full commit id. It fetches only that commit
 * and leaves no files on the disk.
 * @throws Unprocessable, Unavailable or a `limited` ServiceError; none of them contains a credential
 */
export async function snapshotGit(
  source: { readonly url: string; readonly ref: string; readonly path?: string | undefined },
  options: SnapshotOptions,
): Promise<GitSnapshot> {
  return withGit(source.url, options, (git, url, directory) => snapshot(git, { ...source, url, directory }, options));
}

/**
 * The number of branches, tags and other refs that a repository lists. It fetches nothing.
 * @throws as `snapshotGit`
 */
export async function countRefs(url: string, options: SnapshotOptions): Promise<number> {
  return withGit(url, options, async (git, checked) => {
    const listed = await git(['ls-remote', '--quiet', '--', checked], { maximumOutput: maxListingBytes });
    return listed.toString().split('\n').filter(Boolean).length;
  });
}

/** Runs git on one repository, at addresses that were checked, in a directory that is removed afterwards. */
function withGit<Result>(
  source: string,
  options: SnapshotOptions,
  work: (git: Git, url: string, directory: string) => Promise<Result>,
): Promise<Result> {
  const keepsMs = options.keepsPlaceMs ?? defaultKeepsPlaceMs;
  const run = (givenUp: AbortSignal) => runWithGit(source, { ...options, givenUp }, work);
  const holders = options.holders ?? [];
  return shares.run(holders, () => places.run({ holders, keepsMs, run }));
}

interface PlacedOptions extends SnapshotOptions {
  /** Aborted when another repository has taken the place. */
  readonly givenUp: AbortSignal;
}

async function runWithGit<Result>(
  source: string,
  options: PlacedOptions,
  work: (git: Git, url: string, directory: string) => Promise<Result>,
): Promise<Result> {
  const directory = await makeGitDirectory();
  try {
    const { git, url } = await openGit(directory, source, options);
    return await work(git, url, directory);
  } catch (error) {
    if (!(error instanceof GitStopped)) throw error;
    if (error.reason === 'output') throw new Unprocessable('the repository is too large', { code: 'source_too_large' });
    const reason = error.reason === 'place' ? ' while others waited for their turn: try again soon' : '';
    throw new Unavailable(`the repository could not be read in time${reason}`);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function openGit(directory: string, source: string, options: PlacedOptions): Promise<{ git: Git; url: string }> {
  const deadline = Date.now() + (options.timeoutMs ?? defaultTimeoutMs);
  const schemes = ['https', 'ssh', 'file'] as const;
  const destination = await checkOutbound(source, options.policy, {
    schemes,
    ...(options.resolve && { resolve: options.resolve }),
  });
  const environment = await prepareAccess(directory, destination, options.credential);
  await giveToGit(directory);
  const { givenUp, maxPackBytes: largestFile = defaultMaxPackBytes } = options;
  const place = { directory, environment, deadline, largestFile, givenUp };
  const git = createGit(place, secretsOf(options.credential));
  await requireGit(git);
  return { git, url: destination.url.href };
}

interface CheckedSource {
  readonly url: string;
  readonly ref: string;
  readonly path?: string | undefined;
  /** The private directory in which git works. */
  readonly directory: string;
}

async function snapshot(
  git: Git,
  { url, directory, ...source }: CheckedSource,
  options: SnapshotOptions,
): Promise<GitSnapshot> {
  await git(['init', '--quiet', '--bare', '--template=', 'repository']);
  const refspec = `+${await findRef(git, url, source.ref)}:${fetchedRef}`;
  await git(['-C', 'repository', 'fetch', ...fetchOptions, '--', url, refspec]);
  const commit = (await git(['-C', 'repository', 'rev-parse', '--verify', `${fetchedRef}^{commit}`])).toString().trim();
  const tree = parseTree(
    await git(['-C', 'repository', 'ls-tree', '-r', '-z', '-l', '--full-tree', commit], {
      maximumOutput: maxListingBytes,
    }),
  );
  const limits = options.limits ?? snapshotLimits;
  const collected = await collectFiles(tree, source.path ?? '', limits, createContents(git, directory, limits));
  return { commit, ...collected };
}

const fetchedRef = 'refs/snapshot/source';
const fetchOptions = ['--quiet', '--depth=1', '--no-tags', '--no-recurse-submodules', '--no-write-fetch-head'];

function createGit(place: GitPlace, secrets: readonly string[]): Git {
  return async (args, options) => {
    const outcome: GitOutcome = await runGit(args, place, options);
    if (outcome.code !== 0) throw explainGit(outcome, secrets);
    return outcome.stdout;
  };
}

let isNewEnough = false;

/** Refuses older versions of git, because they ignore the configuration that restricts the addresses to which it connects. */
async function requireGit(git: Git): Promise<void> {
  if (isNewEnough) return;
  const said = (await git(['--version'])).toString();
  const [, major = 0, minor = 0] = /^git version (\d+)\.(\d+)/.exec(said)?.map(Number) ?? [];
  isNewEnough = major > 2 || (major === 2 && minor >= 37);
  if (!isNewEnough) throw new Unavailable('git 2.37 or newer is needed where the service runs');
}

/** The full name of a ref on the server; a commit id is returned unchanged. */
async function findRef(git: Git, url: string, ref: string): Promise<string> {
  if (/^[0-9a-f]{40}$/.test(ref)) return ref;
  const names = ref === 'HEAD' || ref.startsWith('refs/') ? [ref] : [`refs/heads/${ref}`, `refs/tags/${ref}`];
  const listed = (await git(['ls-remote', '--quiet', '--', url, ...names])).toString().split('\n');
  const found = names.filter((name) => listed.some((line) => line.split('\t')[1] === name));
  if (found.length > 1) {
    throw new Unprocessable(`"${ref}" is a branch and a tag: write "${found[0]}" or "${found[1]}"`, {
      code: 'source_ref_ambiguous',
    });
  }
  if (found[0] !== undefined) return found[0];
  const hint = /^[0-9a-f]{7,39}$/.test(ref) ? '; to name a commit, write all 40 digits of its id' : '';
  throw new Unprocessable(`the repository has no branch or tag "${ref}"${hint}`, { code: 'source_ref_missing' });
}

function secretsOf(credential: GitCredential | undefined): string[] {
  if (credential === undefined) return [];
  return credential.kind === 'password' ? [credential.password] : [credential.privateKey];
}

const repository = ['-C', 'repository'];

/** Makes a reader for the contents of a repository that was fetched into git's working directory. */
function createContents(git: Git, directory: string, limits: FileLimits): GitContents {
  return {
    read: (objects) => readObjects(git, objects, limits),
    checkOut: (files, attributes) => checkOut(git, directory, files, attributes),
  };
}

/** Reads objects with `git cat-file --batch`. It prints for each a line `<id> <type> <size>`, the bytes, and a line end. */
async function readObjects(git: Git, objects: readonly string[], limits: FileLimits): Promise<Map<string, Buffer>> {
  const contents = new Map<string, Buffer>();
  if (objects.length === 0) return contents;
  const maximumOutput = limits.bytes + objects.length * 100;
  const input = objects.map((object) => `${object}\n`).join('');
  const output = await git([...repository, 'cat-file', '--batch'], { input, maximumOutput });
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf('\n', at);
    const [object = '', , size = ''] = output.subarray(at, end).toString().split(' ');
    const start = end + 1;
    contents.set(object, output.subarray(start, start + Number(size)));
    at = start + Number(size) + 1;
  }
  return contents;
}

/**
 * Makes git write files from an index that contains only them and the attributes. No program of a filter is configured, so only git's own
 * conversions apply, and links are not among the files.
 */
async function checkOut(
  git: Git,
  directory: string,
  files: readonly TreeEntry[],
  attributes: readonly TreeEntry[],
): Promise<Map<string, Buffer>> {
  await mkdir(join(directory, 'files'));
  await giveToGit(directory);
  const listed = new Map([...files, ...attributes].map((entry) => [entry.path, entry]));
  const index = [...listed.values()].map(({ path, object }) => `100644 ${object}\t${path}\0`).join('');
  await git([...repository, 'update-index', '-z', '--add', '--index-info'], { input: index });
  const settings = ['-c', 'core.symlinks=false', '-c', 'core.protectNTFS=false'];
  await git([...repository, '--work-tree=../files', ...settings, 'checkout-index', '--quiet', '--all']);
  const written = new Map<string, Buffer>();
  for (const { path } of files) written.set(path, await readFile(join(directory, 'files', path)));
  return written;
}

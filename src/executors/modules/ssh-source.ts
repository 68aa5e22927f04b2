import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { createGunzip } from 'node:zlib';
import { type GitCredential, prepareAccess } from '#domain/sources/git/access.ts';
import { makeGitDirectory } from '#domain/sources/git/directories.ts';
import { explainGit } from '#domain/sources/git/errors.ts';
import { type GitPlace, runGit, streamGit } from '#domain/sources/git/process.ts';
import { findGitUser, giveToGit } from '#domain/sources/git/user.ts';
import { destinationOf } from '../egress/destination.ts';
import type { Egress } from '../egress/egress.ts';
import { refused } from '../egress/refusal.ts';
import { formatBytes } from '../shared/bytes.ts';
import type { GitRequest } from './git-source.ts';

/** The limit for one repository, in bytes as git packs it. */
export const maxPackBytes = 256 * 1024 * 1024;
/**
 * The limit for all repositories of an attempt, in bytes. The address of a repository can be written in many ways, and each spelling makes
 * another copy.
 */
const maxCopyBytes = 2 * 1024 * 1024 * 1024;
/** How many repositories are fetched at once. */
const maxAtOnce = 4;
const timeoutMs = 120_000;

export interface KeySource {
  readonly url: string;
  readonly credential: Extract<GitCredential, { kind: 'ssh_key' }>;
}

interface Mirror {
  readonly place: GitPlace;
}

/**
 * Reads repositories over SSH on behalf of git in a sandbox, which has neither the key nor SSH access. Each repository is fetched here
 * once, and served from this copy.
 */
export class SshMirrors {
  readonly #egress: Egress;
  readonly #parent: string;
  readonly #signal = new AbortController();
  readonly #mirrors = new Map<string, Promise<Mirror>>();
  readonly #maxBytes: number;
  /** Clones in progress, each of which reserves space for the largest repository. These promises never reject. */
  readonly #cloning = new Set<Promise<unknown>>();
  /** The bytes of the finished clones. */
  #bytes = 0;

  /** @param parent a directory of the attempt, which no sandbox sees */
  constructor(egress: Egress, parent: string, maxBytes = maxCopyBytes) {
    this.#egress = egress;
    this.#parent = parent;
    this.#maxBytes = maxBytes;
  }

  async answer(
    { credential }: KeySource,
    { asked, request, response }: { asked: GitRequest; request: IncomingMessage; response: ServerResponse },
  ): Promise<void> {
    const { place } = await this.#mirror(asked.repository, credential);
    const isList = asked.method === 'GET';
    const kind = `application/x-git-upload-pack-${isList ? 'advertisement' : 'result'}`;
    response.writeHead(200, { 'content-type': kind, 'cache-control': 'no-cache', connection: 'close' });
    // Two packets: the first names the service, and the second ends this section.
    if (isList) response.write('001e# service=git-upload-pack\n0000');
    const options = isList ? ['--stateless-rpc', '--advertise-refs'] : ['--stateless-rpc'];
    const input = request.headers['content-encoding'] === 'gzip' ? request.pipe(createGunzip()) : request;
    input.on('error', () => response.destroy());
    const isServed = await streamGit(
      ['upload-pack', '--strict', ...options, 'repository'],
      { ...place, deadline: Date.now() + timeoutMs },
      { input, output: response },
    );
    if (isServed) response.end();
    else response.destroy();
  }

  async close(): Promise<void> {
    this.#signal.abort();
    const made = await Promise.allSettled(this.#mirrors.values());
    const places = made.flatMap((each) => (each.status === 'fulfilled' ? [each.value.place.directory] : []));
    await Promise.all(places.map((directory) => rm(directory, { recursive: true, force: true })));
  }

  #mirror(repository: URL, credential: KeySource['credential']): Promise<Mirror> {
    const known = this.#mirrors.get(repository.href);
    if (known !== undefined) return known;
    const made = this.#fetch(repository, credential);
    this.#mirrors.set(repository.href, made);
    return made;
  }

  /**
   * Clones once there is enough space. The size of a repository is known only after its clone, so other clones may free space while this
   * one waits.
   */
  async #fetch(url: URL, credential: KeySource['credential']): Promise<Mirror> {
    while (this.#cloning.size > 0 && !this.#hasRoom()) await Promise.race(this.#cloning);
    if (!this.#hasRoom())
      throw refused(`the repositories of the run may have more than ${formatBytes(this.#maxBytes)} together`);
    const made = this.#clone(url, credential);
    const ended: Promise<unknown> = made.then(
      () => this.#cloning.delete(ended),
      () => this.#cloning.delete(ended),
    );
    this.#cloning.add(ended);
    return made;
  }

  #hasRoom(): boolean {
    const reserved = (this.#cloning.size + 1) * maxPackBytes;
    return this.#cloning.size < maxAtOnce && this.#bytes + reserved <= this.#maxBytes;
  }

  async #clone(url: URL, credential: KeySource['credential']): Promise<Mirror> {
    const addresses = await this.#egress.check(destinationOf(url));
    // Git runs as another user if this process is root, and must reach the directory.
    const isReachable = findGitUser() === null;
    if (isReachable) await mkdir(this.#parent, { recursive: true, mode: 0o700 });
    const directory = await makeGitDirectory(isReachable ? this.#parent : undefined);
    try {
      const environment = await prepareAccess(directory, { url, addresses, mayBePlain: false }, credential);
      await giveToGit(directory);
      const place: GitPlace = {
        directory,
        environment,
        largestFile: maxPackBytes,
        deadline: Date.now() + timeoutMs,
        givenUp: this.#signal.signal,
      };
      const outcome = await runGit(['clone', '--quiet', '--bare', '--template=', '--', url.href, 'repository'], place);
      if (outcome.code !== 0) throw explainGit(outcome, [credential.privateKey]);
      this.#bytes += await sizeOfPacks(directory);
      return { place };
    } catch (error) {
      await rm(directory, { recursive: true, force: true });
      throw error;
    }
  }
}

async function sizeOfPacks(directory: string): Promise<number> {
  const packs = join(directory, 'repository/objects/pack');
  const sizes = await Promise.all((await readdir(packs)).map(async (name) => (await stat(join(packs, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

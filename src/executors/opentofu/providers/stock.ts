import { randomBytes } from 'node:crypto';
import { cp, lstat, mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ModuleAccess } from '../../attempt/attempt.ts';
import { type Mount, sandboxLayout } from '../../sandbox/bubblewrap.ts';
import { AttemptFailure, messageOf } from '../../shared/errors.ts';
import { linkTree } from '../../shared/files.ts';
import { lockFile } from '../initialization/configuration.ts';
import type { ToolSession } from '../session.ts';
import { isOfPackage, type LockedProvider, platform, readLockFile, writeLockFile } from './lock-file.ts';
import type { ProviderStore, StoredProvider } from './provider-store.ts';

/** The providers that an `init` gets from the store. */
export interface Stock {
  /** Their directory, in the layout of a filesystem mirror; null if there are none. */
  readonly mount: Mount | null;
  readonly addresses: readonly string[];
  /** By address and version. */
  readonly providers: ReadonlyMap<string, StoredProvider>;
  /** The lock file, with the checksums of the packages in the store. */
  readonly lock: Buffer | null;
}

interface StockOptions {
  readonly store: ProviderStore;
  /** Says which places a run can fetch a provider from; see `ProviderStore`. */
  readonly reachOf: (address: string) => string;
  readonly lock: Buffer | null;
  /** Whether the configuration uses exactly the providers of the lock file. Those that are missing are then fetched. */
  readonly isExact: boolean;
  readonly modules: ModuleAccess;
}

const maxFiles = 10_000;

/**
 * Lays out the providers of a lock file, as far as the store has them or can get them.
 * @throws AttemptFailure `init_failed` if one cannot be fetched, or differs from the lock file
 */
export async function stockProviders(session: ToolSession, options: StockOptions): Promise<Stock> {
  const { lock } = options;
  const locked = lock === null ? null : readLockFile(lock);
  if (locked === null) return { mount: null, addresses: [], providers: new Map(), lock };
  const providers = new Map<string, StoredProvider>();
  for (const provider of locked) {
    const found = await takeProvider(session, provider, options);
    if (found !== null) providers.set(nameOf(provider), found);
  }
  if (providers.size === 0) return { mount: null, addresses: [], providers, lock };
  const source = join(session.attempt.directory, `providers-${randomBytes(4).toString('hex')}`);
  const addresses: string[] = [];
  for (const provider of locked) {
    const stored = providers.get(nameOf(provider));
    if (stored === undefined) continue;
    await link(stored, packagePath(source, provider));
    addresses.push(provider.address);
  }
  const mount = { source, target: sandboxLayout.storedProviders, isOwn: true };
  return { mount, addresses, providers, lock: addHashes(lock, locked, providers) };
}

async function takeProvider(
  session: ToolSession,
  provider: LockedProvider,
  { store, reachOf, isExact, modules }: StockOptions,
): Promise<StoredProvider | null> {
  const reach = reachOf(provider.address);
  if (!isExact) return store.find(provider, reach);
  return store.obtain(provider, reach, async () => {
    const data = await fetchProvider(session, provider, modules);
    return addTo(store, session, data, provider, reach).finally(() => rm(data, { recursive: true, force: true }));
  });
}

/**
 * Fetches one provider, without anything of the template. The tool compares the archive with the lock file before it unpacks it. Returns the
 * tool's directory.
 */
async function fetchProvider(session: ToolSession, provider: LockedProvider, modules: ModuleAccess): Promise<string> {
  const { address, version } = provider;
  const data = join(session.attempt.directory, `fetched-${randomBytes(4).toString('hex')}`);
  await mkdir(data, { mode: 0o700 });
  session.attempt.note(`fetching the provider ${address} ${version}`);
  const needs = `terraform {\n  required_providers {\n    one = {\n      source  = "${address}"\n      version = "${version}"\n    }\n  }\n}\n`;
  const work = join('work', session.executor.directory ?? '');
  const { constraints: _, ...locked } = provider;
  await session.call({
    subcommand: 'init',
    modules,
    options: () => ['-backend=false', '-input=false', '-no-color', '-lockfile=readonly'],
    reason: 'init_failed',
    initialized: null,
    data,
    seesTemplate: false,
    extraFiles: new Map([
      [join(work, 'main.tf'), Buffer.from(needs)],
      [join(work, lockFile), writeLockFile([{ ...locked, constraints: version }])],
    ]),
    network: { state: false, egress: true },
    relaxedGc: true,
  });
  return data;
}

/** Adds the package that the tool has in its directory. If that is a link to the operator's directory, a copy is added. */
async function addTo(
  store: ProviderStore,
  session: ToolSession,
  data: string,
  provider: LockedProvider,
  reach: string,
): Promise<StoredProvider> {
  const { address, version, hashes } = provider;
  const place = packagePath(join(data, 'providers'), provider);
  // The tool has compared the archive with the lock file, which need not know yet what unpacking it gives.
  const isOfPackages = hashes.some(isOfPackage);
  try {
    const accepts = (hash: string) => !isOfPackages || hashes.includes(hash);
    const { providerMirror } = session.attempt.settings;
    if (providerMirror !== null && (await lstat(place)).isSymbolicLink()) {
      await rm(place);
      await cp(packagePath(providerMirror, provider), place, { recursive: true, dereference: true });
    }
    return await store.add(place, provider, reach, accepts);
  } catch (error) {
    throw new AttemptFailure('init_failed', `the provider ${address} ${version} cannot be used: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/**
 * Gives an initialization links to the providers of the store, in place of what `init` made, and first moves there what `init` fetched itself.
 * Returns the keys of the providers. @throws AttemptFailure `init_failed`
 */
export async function settleProviders(
  session: ToolSession,
  data: string,
  lock: Buffer | null,
  { providers }: Pick<Stock, 'providers'>,
  { store, reachOf }: Pick<StockOptions, 'store' | 'reachOf'>,
): Promise<string[]> {
  const keys: string[] = [];
  for (const provider of (lock === null ? null : readLockFile(lock)) ?? []) {
    const place = packagePath(join(data, 'providers'), provider);
    const stored =
      providers.get(nameOf(provider)) ?? (await addTo(store, session, data, provider, reachOf(provider.address)));
    await rm(place, { recursive: true, force: true });
    await link(stored, place);
    keys.push(stored.key);
  }
  return keys;
}

async function link({ directory }: StoredProvider, place: string): Promise<void> {
  await mkdir(dirname(place), { recursive: true, mode: 0o700 });
  if (!(await linkTree(directory, place, maxFiles))) throw new Error(`the provider at ${directory} cannot be linked`);
}

/** Adds the checksums of packages that were fetched by those of their archives: the tool compares only packages. */
function addHashes(
  lock: Buffer | null,
  locked: readonly LockedProvider[],
  providers: ReadonlyMap<string, StoredProvider>,
): Buffer | null {
  const completed = locked.map((each) => {
    const hash = providers.get(nameOf(each))?.hash;
    return hash === undefined || each.hashes.includes(hash) ? each : { ...each, hashes: [...each.hashes, hash] };
  });
  return completed.every((each, index) => each === locked[index]) ? lock : writeLockFile(completed);
}

function nameOf({ address, version }: LockedProvider): string {
  return `${address} ${version}`;
}

/** The directory of a package below a directory of providers, as both tools lay it out. */
function packagePath(root: string, { address, version }: LockedProvider): string {
  return join(root, ...address.split('/'), version, platform);
}

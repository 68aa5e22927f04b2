import { join } from 'node:path';
import type { KeptModules } from '#domain/registry/kept-modules/model.ts';
import { sha256 } from '../../attempt/artifact.ts';
import type { Attempt, ModuleAccess } from '../../attempt/attempt.ts';
import { AttemptFailure } from '../../shared/errors.ts';
import { lockForOtherPlatform, platform } from '../providers/lock-file.ts';
import { reachOf } from '../providers/reach.ts';
import { settleProviders, stockProviders } from '../providers/stock.ts';
import type { ToolSession } from '../session.ts';
import { digestModules, digestSources, lockFile, verifyBackend } from './configuration.ts';
import { needsVariablesAtInit } from './configuration-scan.ts';
import type { InitCache, Initialization, MadeInitialization } from './init-cache.ts';
import { areModulesOf, removeGitDirectories, restoreModules, verifyModules } from './kept-modules.ts';
import { findMissingConnection } from './module-hint.ts';
import { comparedFile, comparedSource, comparedVariable, placesOf } from './places.ts';
import { findMissingProviders } from './state-providers.ts';

const maxLockBytes = 1024 * 1024;

/** The parts of an initialization that a plan fixed; undefined before there is a plan. */
type Planned =
  | { /** Null if it had no lock file. */ readonly lock: Buffer | null; readonly modules: string }
  | undefined;

/** An initialization in use, and the call that ends its use. */
export interface InitLease {
  readonly initialized: Initialization;
  /** The lock file of the version. That of the initialization may also have providers that only the state needs. */
  readonly lock: Buffer | null;
  /** Whether the values of the run's variables may have chosen the modules. */
  readonly withVariables: boolean;
  release(): void;
}

/**
 * Provides providers and modules, which the tool needs before it can plan or apply: from an earlier run of the same version, or fetched
 * now. An apply gets exactly the providers of its plan. Modules that the version used before are restored, not fetched again.
 * @throws AttemptFailure `init_failed`, `backend_forbidden`, `modules_changed`
 */
export async function initialize(session: ToolSession, cache: InitCache, planned?: Planned): Promise<InitLease> {
  const needsVariables = session.tool.name === 'opentofu' && needsVariablesAtInit(session.executor.files);
  try {
    return await obtain(session, cache, needsVariables, planned);
  } catch (error) {
    // A remote module may need variables too. That cannot be known before it is fetched.
    const mayNeedVariables = session.tool.name === 'opentofu' && !needsVariables;
    const isRefused = error instanceof AttemptFailure && error.reason === 'init_failed';
    if (!isRefused || session.attempt.control.cause !== null) throw error;
    const printed = session.attempt.lastErrors();
    if (!mayNeedVariables || !/variable/i.test(printed)) {
      await hintAtConnection(session.attempt, printed);
      throw error;
    }
    session.attempt.diagnostics.clear();
    session.attempt.note('trying again with the values of the variables');
    return await obtain(session, cache, true, planned);
  }
}

/** Logs which connection is missing, or what would prevent any connection, such as a name that does not exist. */
async function hintAtConnection(attempt: Attempt, printed: string): Promise<void> {
  const missing = findMissingConnection(printed);
  if (missing === null) return;
  const obstacle = missing.untried && (await attempt.findObstacle(missing.untried));
  attempt.note(obstacle ?? missing.hint);
}

async function obtain(
  session: ToolSession,
  cache: InitCache,
  withVariables: boolean,
  planned: Planned,
): Promise<InitLease> {
  // If variables choose the modules, other runs cannot use them.
  const kept = withVariables ? null : await keptOf(session, planned);
  const key = keyOf(session, cache, withVariables, kept);
  const lease = (name: string, initialized: Initialization) => ({
    initialized,
    lock: initialized.lock,
    withVariables,
    release: () => cache.release(name),
  });
  const make = async (name: string, more: Pick<Making, 'lock' | 'isPlanned' | 'seesState'>) =>
    lease(name, await cache.obtain(name, (data) => fill(session, cache, data, { withVariables, kept, ...more })));
  const known = lockOf(session.attempt);
  const pinned = known === null ? key : cache.keyOf({ key, known: sha256(known) }, {});
  if (planned !== undefined) {
    const { lock } = planned;
    const found = (await findWith(cache, key, lock)) ?? (await findWith(cache, pinned, lock));
    if (found !== null) return lease(found.name, found.initialized);
    const name = cache.keyOf({ key, lock: lock === null ? null : sha256(lock) }, {});
    return make(name, { lock, isPlanned: true, seesState: lock !== null });
  }
  const found = known === null ? null : await findWith(cache, key, known);
  const shared = found === null ? await make(pinned, { lock: known }) : lease(found.name, found.initialized);
  return withProvidersOfState(session, shared, (missing) => {
    const lock = shared.initialized.lock ?? known;
    return make(cache.keyOf({ key: pinned, missing }, {}), { lock, seesState: true });
  });
}

/** Finds an entry that has a lock file, or none if it is null. */
async function findWith(
  cache: InitCache,
  name: string,
  lock: Buffer | null,
): Promise<{ name: string; initialized: Initialization } | null> {
  const initialized = await cache.find(name);
  if (initialized === null || isSame(initialized.lock, lock)) return initialized && { name, initialized };
  cache.release(name);
  return null;
}

/**
 * Runs share an initialization that was made without a state. With a state, the tool adds the providers of that state, and a state belongs
 * to one instance only. A run whose state needs more providers shares an initialization with runs that need the same additional ones.
 */
async function withProvidersOfState(
  { attempt }: ToolSession,
  shared: InitLease,
  make: (missing: readonly string[]) => Promise<InitLease>,
): Promise<InitLease> {
  const missing = findMissingProviders(attempt.state.content, shared.initialized.lock);
  if (missing === null) return shared;
  shared.release();
  return { ...(await make(missing)), lock: shared.lock };
}

/** The lock file that earlier runs of the version made, for this platform; null if there is none. */
function lockOf({ modules }: Attempt): Buffer | null {
  const { locks = {} } = modules ?? {};
  const [other] = Object.values(locks);
  const own = locks[platform];
  if (own !== undefined) return Buffer.from(own);
  return other === undefined ? null : lockForOtherPlatform(Buffer.from(other));
}

/** The stored modules, unless the plan used others. An apply needs the modules of its plan, which may be older than the stored ones. */
async function keptOf({ attempt: { modules } }: ToolSession, planned: Planned): Promise<KeptModules | null> {
  if (modules === null || planned === undefined) return modules;
  return (await areModulesOf(modules, planned.modules)) ? modules : null;
}

function keyOf(
  { attempt, executor, tool, variables }: ToolSession,
  cache: InitCache,
  withVariables: boolean,
  kept: KeptModules | null,
): string {
  const { request } = attempt;
  const facts = {
    // Earlier releases stored another digest of modules, the providers of the state of whichever run came first, and providers outside of the store.
    format: 4,
    version: request.templateVersion,
    sources: digestSources(executor),
    tool,
    platform,
    ...placesOf(attempt),
    // A worker that does not get the files must fetch them. It must not get an entry that was made from another worker's files.
    ...(kept !== null && kept.digest !== '' && { modules: kept.digest, areLaidOut: kept.content !== null }),
  };
  const { environment, environmentFiles = [], moduleSources = [] } = request;
  const given = [
    environment.map(comparedVariable),
    ...(environmentFiles.length > 0 ? [environmentFiles.map(comparedFile)] : []),
    ...(moduleSources.length > 0 ? [moduleSources.map(comparedSource)] : []),
  ];
  return cache.keyOf(facts, [...given, withVariables ? sha256(variables) : null]);
}

interface Making {
  readonly withVariables: boolean;
  readonly kept: KeptModules | null;
  /** The lock file of the plan, or that of earlier runs. */
  readonly lock: Buffer | null;
  /** Whether the lock file is that of the plan. `init` then may not change it. */
  readonly isPlanned?: boolean;
  readonly seesState?: boolean;
}

async function fill(session: ToolSession, cache: InitCache, data: string, making: Making): Promise<MadeInitialization> {
  const { kept } = making;
  if (kept !== null && kept.content !== null) await restoreModules(data, kept.content);
  const modules = await session.openModules();
  try {
    const made = await runInit(session, cache, data, { ...making, modules });
    await verifyBackend(data);
    await removeGitDirectories(data);
    if (kept !== null) await verifyModules(data, kept);
    return { ...made, modules: await digestModules(data) };
  } finally {
    await modules.close();
  }
}

async function runInit(
  session: ToolSession,
  cache: InitCache,
  data: string,
  { withVariables, lock, isPlanned = false, seesState = false, modules }: Making & { readonly modules: ModuleAccess },
): Promise<Pick<MadeInitialization, 'lock' | 'providers'>> {
  const directory = session.executor.directory ?? '';
  const supply = { store: cache.providers, reachOf: reachOf(session, cache) };
  const stock = await stockProviders(session, {
    ...supply,
    lock: lock ?? session.ownLock,
    isExact: lock !== null && !withVariables,
    modules,
  });
  const { collected = null } = await session.call({
    subcommand: 'init',
    modules,
    stock,
    options: (paths) => [
      '-input=false',
      '-no-color',
      ...(withVariables ? session.earlyEvaluationOptions(paths) : []),
      ...(isPlanned && lock !== null ? ['-lockfile=readonly'] : []),
    ],
    reason: 'init_failed',
    initialized: null,
    data,
    seesVariables: withVariables,
    seesState,
    ...(stock.lock !== null && { extraFiles: new Map([[join('work', directory, lockFile), stock.lock]]) }),
    network: { state: true, egress: true },
    relaxedGc: true,
    collect: (results, paths) => results.read(join(paths.work, directory, lockFile), maxLockBytes),
  });
  return { lock: collected, providers: await settleProviders(session, data, collected, stock, supply) };
}

function isSame(a: Buffer | null, b: Buffer | null): boolean {
  return a === null || b === null ? a === b : a.equals(b);
}

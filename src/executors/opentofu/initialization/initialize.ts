import { join } from 'node:path';
import type { ModuleSource } from '#domain/connections/module-sources/model.ts';
import type { KeptModules } from '#domain/registry/kept-modules/model.ts';
import { sha256 } from '../../attempt/artifact.ts';
import type { Attempt } from '../../attempt/attempt.ts';
import type { EnvironmentFile } from '../../protocol/request.ts';
import { AttemptFailure } from '../../shared/errors.ts';
import { asArray, isObject, parseJson } from '../../shared/json.ts';
import type { ToolSession } from '../session.ts';
import { digestModules, digestSources, lockFile, verifyBackend } from './configuration.ts';
import { needsVariablesAtInit } from './configuration-scan.ts';
import type { InitCache, Initialization } from './init-cache.ts';
import { areModulesOf, removeGitDirectories, restoreModules, verifyModules } from './kept-modules.ts';
import { findMissingConnection } from './module-hint.ts';

const maxLockBytes = 1024 * 1024;

/** The parts of an initialization that a plan fixed; undefined before there is a plan. */
type Planned =
  | { /** Null if it had no lock file. */ readonly lock: Buffer | null; readonly modules: string }
  | undefined;

/** An initialization in use, and the call that ends its use. */
export interface InitLease {
  readonly initialized: Initialization;
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
    withVariables,
    release: () => cache.release(name),
  });
  const make = async (name: string, more: Pick<Making, 'lock' | 'seesState'> = {}) =>
    lease(name, await cache.obtain(name, (data) => fill(session, data, { withVariables, kept, ...more })));
  if (planned === undefined) return obtainForPlan(session, cache, key, make);
  const { lock } = planned;
  const found = await cache.find(key);
  if (found !== null && isSame(found.lock, lock)) return lease(key, found);
  if (found !== null) cache.release(key);
  const pinned = cache.keyOf({ key, lock: lock === null ? null : sha256(lock) }, {});
  return make(pinned, { lock, seesState: lock !== null });
}

/**
 * Runs share an initialization that was made without a state. With a state, the tool adds the providers of that state, and a state belongs
 * to one instance only. A run whose state needs more providers shares an initialization with runs that need the same additional ones.
 */
async function obtainForPlan(
  session: ToolSession,
  cache: InitCache,
  key: string,
  make: (name: string, more?: Pick<Making, 'seesState'>) => Promise<InitLease>,
): Promise<InitLease> {
  const shared = await make(key);
  const missing = findMissingProviders(session.attempt.state.content, shared.initialized.lock);
  if (missing === null) return shared;
  shared.release();
  return make(cache.keyOf({ key, missing }, {}), { seesState: true });
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
  const { request, settings } = attempt;
  const facts = {
    // Earlier releases stored another digest of modules, and the providers of the state of whichever run came first.
    format: 3,
    version: request.templateVersion,
    sources: digestSources(executor),
    tool,
    platform: `${process.platform}-${process.arch}`,
    mirrors: [settings.providerMirror, settings.providerNetworkMirror, settings.providersDirect],
    egress: request.egress,
    // A worker that does not get the files must fetch them. It must not get an entry that was made from another worker's files.
    ...(kept !== null && { modules: kept.digest, areLaidOut: kept.content !== null }),
  };
  const { environment, environmentFiles = [], moduleSources = [] } = request;
  const given = [
    environment.map((each) => (each.identity === undefined ? each : { ...each, value: each.identity })),
    ...(environmentFiles.length > 0 ? [environmentFiles.map(comparedFile)] : []),
    ...(moduleSources.length > 0 ? [moduleSources.map(comparedSource)] : []),
  ];
  return cache.keyOf(facts, [...given, withVariables ? sha256(variables) : null]);
}

function comparedSource(source: ModuleSource): object {
  return { place: source.kind === 'git' ? source.url : source.host, identity: source.identity };
}

function comparedFile({ name, text, identity }: EnvironmentFile): object {
  return { name, ...(identity === undefined ? { text } : { identity }) };
}

interface Making {
  readonly withVariables: boolean;
  readonly kept: KeptModules | null;
  /** The lock file of the plan. */
  readonly lock?: Buffer | null;
  readonly seesState?: boolean;
}

async function fill(
  session: ToolSession,
  data: string,
  { withVariables, kept, lock: plannedLock = null, seesState = false }: Making,
): Promise<{ lock: Buffer | null; modules: string }> {
  const directory = session.executor.directory ?? '';
  const lockPath = join('work', directory, lockFile);
  if (kept !== null && kept.content !== null) await restoreModules(data, kept.content);
  const modules = await session.openModules();
  const call = session.call({
    subcommand: 'init',
    modules,
    options: (paths) => [
      '-input=false',
      '-no-color',
      ...(withVariables ? session.earlyEvaluationOptions(paths) : []),
      ...(plannedLock === null ? [] : ['-lockfile=readonly']),
    ],
    reason: 'init_failed',
    initialized: null,
    data,
    seesVariables: withVariables,
    seesState,
    ...(plannedLock !== null && { extraFiles: new Map([[lockPath, plannedLock]]) }),
    network: { state: true, egress: true },
    relaxedGc: true,
    collect: (results, paths) => results.read(join(paths.work, directory, lockFile), maxLockBytes),
  });
  const { collected = null } = await call.finally(() => modules.close());
  await verifyBackend(data);
  await removeGitDirectories(data);
  if (kept !== null) await verifyModules(data, kept);
  return { lock: collected, modules: await digestModules(data) };
}

function isSame(a: Buffer | null, b: Buffer | null): boolean {
  return a === null || b === null ? a === b : a.equals(b);
}

/** A provider that both tools have built in. They do not write it into lock files. */
const builtIn = 'terraform.io/builtin/terraform';
/** The format of states that both tools write. */
const knownFormat = 4;

/**
 * The providers that a state needs in addition to those of a lock file, by address. If the state does not show its providers, the digest of
 * the state replaces the list. Null if it needs none.
 */
function findMissingProviders(state: Buffer | null, lock: Buffer | null): string[] | null {
  if (state === null) return null;
  const named = providersOf(state);
  if (named === null) return [sha256(state)];
  const locked = new Set([...(lock?.toString().matchAll(/^\s*provider\s+"([^"]+)"/gm) ?? [])].map(([, name]) => name));
  const missing = [...named].filter((name) => name !== builtIn && !locked.has(name)).sort();
  return missing.length === 0 ? null : missing;
}

/** The addresses of the providers of a state; null if the state does not show them, for example because it is encrypted. */
function providersOf(content: Buffer): Set<string> | null {
  const state = parseJson(content);
  if (!isObject(state) || state['version'] !== knownFormat || state['encrypted_data'] !== undefined) return null;
  const found = asArray(state['resources']).map((resource) =>
    isObject(resource) ? /\bprovider\["([^"]+)"\]/.exec(String(resource['provider']))?.[1] : undefined,
  );
  return found.some((name) => name === undefined) ? null : new Set(found.flatMap((name) => name ?? []));
}

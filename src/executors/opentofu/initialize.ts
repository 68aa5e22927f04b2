import { join } from 'node:path';
import { sha256 } from '../attempt/artifact.ts';
import { AttemptFailure } from '../attempt/attempt-error.ts';
import { needsEarlyVariables } from './early-variables.ts';
import { digestModules, digestSources, lockFile, verifyBackend } from './files.ts';
import type { Initialization, Initializations } from './initializations.ts';
import type { ToolSession } from './session.ts';

const largestLock = 1024 * 1024;

/** The lock file with which a plan was made; undefined while there is no plan, null where it had none. */
type PlannedLock = Buffer | null | undefined;

/** An initialization that is being used, and how to say that it no longer is. */
export interface Held {
  readonly initialized: Initialization;
  release(): void;
}

/**
 * What the tool needs before it can plan or apply: kept from an earlier run of the same version, or made now. An apply takes
 * exactly the providers that its plan was made with.
 * @throws AttemptFailure `init_failed`, `backend_forbidden`
 */
export async function initialize(
  session: ToolSession,
  kept: Initializations,
  plannedLock?: PlannedLock,
): Promise<Held> {
  const early = session.tool.name === 'opentofu' && needsEarlyVariables(session.executor.files);
  try {
    return await obtain(session, kept, early, plannedLock);
  } catch (error) {
    // A remote module may want variables as well; nobody sees that before it is fetched.
    const mayWantVariables = session.tool.name === 'opentofu' && !early;
    const isRefused = error instanceof AttemptFailure && error.reason === 'init_failed';
    if (!mayWantVariables || !isRefused || session.attempt.control.cause !== null) throw error;
    if (!/variable/i.test(session.attempt.lastErrors())) throw error;
    session.attempt.note('trying again with the values of the variables');
    return await obtain(session, kept, true, plannedLock);
  }
}

async function obtain(
  session: ToolSession,
  kept: Initializations,
  withVariables: boolean,
  plannedLock: PlannedLock,
): Promise<Held> {
  const key = keyOf(session, kept, withVariables);
  const hold = (name: string, initialized: Initialization) => ({ initialized, release: () => kept.release(name) });
  if (plannedLock === undefined) return hold(key, await kept.obtain(key, (data) => make(session, data, withVariables)));
  const found = await kept.find(key);
  if (found !== null && isSame(found.lock, plannedLock)) return hold(key, found);
  if (found !== null) kept.release(key);
  const pinned = kept.keyOf({ key, lock: plannedLock === null ? null : sha256(plannedLock) }, {});
  return hold(pinned, await kept.obtain(pinned, (data) => make(session, data, withVariables, plannedLock)));
}

function keyOf(
  { attempt, executor, tool, variables }: ToolSession,
  kept: Initializations,
  withVariables: boolean,
): string {
  const { request, settings } = attempt;
  const facts = {
    version: request.templateVersion,
    sources: digestSources(executor),
    tool,
    platform: `${process.platform}-${process.arch}`,
    mirrors: [settings.providerMirror, settings.providerNetworkMirror, settings.providersDirect],
    egress: request.egress,
  };
  return kept.keyOf(facts, [request.environment, withVariables ? sha256(variables) : null]);
}

async function make(
  session: ToolSession,
  data: string,
  withVariables: boolean,
  plannedLock: Buffer | null = null,
): Promise<{ lock: Buffer | null; modules: string }> {
  const directory = session.executor.directory ?? '';
  const lockPath = join('work', directory, lockFile);
  const { collected = null } = await session.call({
    subcommand: 'init',
    options: (places) => [
      ...['-input=false', '-no-color'],
      ...(withVariables ? session.earlyVariables(places) : []),
      ...(plannedLock === null ? [] : ['-lockfile=readonly']),
    ],
    reason: 'init_failed',
    initialized: null,
    data,
    seesVariables: withVariables,
    ...(plannedLock !== null && { extraFiles: new Map([[lockPath, plannedLock]]) }),
    reaches: { state: true, egress: true },
    isUnhurried: true,
    collect: (results, places) => results.read(join(places.work, directory, lockFile), largestLock),
  });
  await verifyBackend(data);
  return { lock: collected, modules: await digestModules(data) };
}

function isSame(a: Buffer | null, b: Buffer | null): boolean {
  return a === null || b === null ? a === b : a.equals(b);
}

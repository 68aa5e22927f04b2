import type { PlanFacts } from '../../attempt/artifact.ts';
import type { Attempt } from '../../attempt/attempt.ts';
import { digestSources } from '../initialization/configuration.ts';
import type { Initialization } from '../initialization/init-cache.ts';
import type { ToolSession } from '../session.ts';

/** The artifact's file with the outputs that the configuration declares. */
export const declaredFile = 'outputs';
/** The artifact's file with the names of the variables whose values the apply needs again. */
export const ephemeralFile = 'ephemeral';

/** The artifact's file with the lock file that the tool had. Plans of earlier releases have none, and were made with the complete one. */
export const toolLockFile = 'tool-lock';

/** The facts about a plan in its artifact. An apply compares them with its request. */
export function factsOf(
  { executor, tool, attempt }: ToolSession,
  { modules }: Pick<Initialization, 'modules'>,
  { changes, drift, sections }: Pick<PlanFacts, 'changes' | 'drift' | 'sections'>,
): PlanFacts {
  const { operation } = attempt.request;
  const shown = { changes, drift, ...(sections && { sections }) };
  return { kind: 'opentofu', tool, operation, sources: digestSources(executor), modules, ...shown };
}

export function parallelismOf({ request: { options = {} } }: Attempt): string[] {
  return options.parallelism === undefined ? [] : [`-parallelism=${options.parallelism}`];
}

/** Without a lock file, the tool runs no providers but its built-in one. */
export function hasNoProviders({ lock }: Initialization): boolean {
  return lock === null;
}

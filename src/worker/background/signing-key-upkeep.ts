import type { Logger } from 'pino';
import { type KeyUpkeepDeps, keepSigningKeys } from '#domain/workload-identity/signing-keys/rotation.ts';
import { PeriodicTask } from '#engine/periodic-task.ts';

const intervalMs = 60_000;

export interface SigningKeyUpkeepDeps extends KeyUpkeepDeps {
  readonly log: Logger;
}

/** Creates the first key that signs the tokens of runs, and its successors in time. A pass with nothing to do is two short queries. */
export function openSigningKeyUpkeep(deps: SigningKeyUpkeepDeps): PeriodicTask {
  return new PeriodicTask({
    intervalMs,
    log: deps.log,
    failure: 'could not keep the keys that sign the tokens of runs',
    run: async () => {
      const id = await keepSigningKeys(deps);
      if (id !== null) deps.log.info({ signing_key_id: id }, 'published a new key for signing the tokens of runs');
    },
  });
}

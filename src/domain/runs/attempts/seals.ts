import type { SealContext } from '#domain/shared/secrets.ts';

/** What the results of attempts are sealed for: nothing else opens them. */
export const artifactContext = (runId: string): SealContext => ['plan-artifact', runId];
export const outputsContext = (instanceId: string): SealContext => ['outputs', instanceId];

import type { SealContext } from '#domain/shared/secrets.ts';

/** The contexts for which the results of attempts are sealed; no other context unseals them. */
export const artifactContext = (runId: string): SealContext => ['plan-artifact', runId];
export const debugLogContext = (attemptId: string): SealContext => ['debug-log', attemptId];

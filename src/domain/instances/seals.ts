import type { SealContext } from '#domain/shared/secrets.ts';

/** The contexts for which states and outputs are sealed; no other context unseals them. */
export const stateContext = (instanceId: string, digest: string): SealContext => ['state', instanceId, digest];
export const outputsContext = (instanceId: string): SealContext => ['outputs', instanceId];

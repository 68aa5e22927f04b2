import { cloud } from './cloud.ts';
import { generic } from './generic.ts';
import { git } from './git.ts';
import type { KindDefinition } from './kind.ts';
import { kubernetes } from './kubernetes.ts';
import { registry } from './registry.ts';

/** Every kind of connection. A new one is a file beside this one, and a line here. */
export const kinds = { cloud, generic, git, kubernetes, registry } as const;

export type ConnectionKind = keyof typeof kinds;
export const connectionKinds = Object.keys(kinds) as [ConnectionKind, ...ConnectionKind[]];

/** A kind whose name is known only when the service runs: its own schemas have parsed what its functions get. */
export function kindOf(name: ConnectionKind): KindDefinition<Record<string, unknown>, Record<string, unknown>> {
  return kinds[name] as unknown as KindDefinition<Record<string, unknown>, Record<string, unknown>>;
}

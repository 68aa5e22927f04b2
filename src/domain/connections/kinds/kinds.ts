import { cloud } from './cloud.ts';
import { generic } from './generic.ts';
import { git } from './git.ts';
import type { KindDefinition } from './kind.ts';
import { kubernetes } from './kubernetes.ts';
import { registry } from './registry.ts';

/** All kinds of connections. A new kind needs a file in this folder and a line here. */
export const kinds = { cloud, generic, git, kubernetes, registry } as const;

export type ConnectionKind = keyof typeof kinds;
export const connectionKinds = Object.keys(kinds) as [ConnectionKind, ...ConnectionKind[]];

/** A kind by a name that is known only at run time. Its functions must get values that its own schemas have parsed. */
export function kindOf(name: ConnectionKind): KindDefinition<Record<string, unknown>, Record<string, unknown>> {
  return kinds[name] as unknown as KindDefinition<Record<string, unknown>, Record<string, unknown>>;
}

import { secretlyMade } from '#domain/assemblies/runs/output-sources.ts';
import type { RunDetails } from '#domain/runs/details-store.ts';

/**
 * The variables of a run as its readers see them. A variable is masked if it is secret, or if it contains an output of something else that
 * has become secret since.
 */
export function showVariables({ variables, secretVariables, edges }: RunDetails): RunDetails['variables'] {
  const secret = new Set([...secretVariables, ...(edges ? secretlyMade(edges) : [])]);
  if (secret.size === 0) return variables;
  const entries = Object.entries(variables).map(([name, value]) => [name, secret.has(name) ? masked : value] as const);
  return Object.fromEntries(entries);
}

const masked = { sensitive: true } as const;

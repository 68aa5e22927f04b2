import { slots } from '#api/web/forms/schema/slots.ts';
import type { RunFacts } from './facts.ts';

/** What applies to variables that are left empty: what the environment sets, and secrets of a copied run. */
export function describeKept({ source, deployed, root, inherited }: RunFacts): ReadonlyMap<string, string> {
  const secrets = new Set(source?.prefill?.secrets ?? deployed?.secrets ?? []);
  const kept = root.members
    .filter(({ name }) => secrets.has(name))
    .map(({ name }): [string, string] => [
      slots.member('', name),
      `Left empty, the ${deployed ? 'deployed value' : 'value of the earlier run'} is kept, if nothing else changes. Otherwise enter it again`,
    ]);
  return new Map([...inherited, ...kept]);
}

import { sha256 } from '../../attempt/artifact.ts';
import { asArray, isObject, parseJson } from '../../shared/json.ts';

/** A provider that both tools have built in. They do not write it into lock files. */
const builtIn = 'terraform.io/builtin/terraform';
/** The format of states that both tools write. */
const knownFormat = 4;

/**
 * The providers that a state needs in addition to those of a lock file, by address. If the state does not show its providers, the digest of
 * the state replaces the list. Null if it needs none.
 */
export function findMissingProviders(state: Buffer | null, lock: Buffer | null): string[] | null {
  if (state === null) return null;
  const named = providersOf(state);
  if (named === null) return [sha256(state)];
  const locked = new Set([...(lock?.toString().matchAll(/^\s*provider\s+"([^"]+)"/gm) ?? [])].map(([, name]) => name));
  const missing = [...named].filter((name) => name !== builtIn && !locked.has(name)).sort();
  return missing.length === 0 ? null : missing;
}

/** The addresses of the providers of a state; null if the state does not show them, for example because it is encrypted. */
function providersOf(content: Buffer): Set<string> | null {
  const state = parseJson(content);
  if (!isObject(state) || state['version'] !== knownFormat || state['encrypted_data'] !== undefined) return null;
  const found = asArray(state['resources']).map((resource) =>
    isObject(resource) ? /\bprovider\["([^"]+)"\]/.exec(String(resource['provider']))?.[1] : undefined,
  );
  return found.some((name) => name === undefined) ? null : new Set(found.flatMap((name) => name ?? []));
}

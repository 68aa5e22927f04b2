import { sha256 } from '../../attempt/artifact.ts';
import { asArray, isObject, parseJson } from '../../shared/json.ts';

/** Both tools have it built in, and write it into no lock file. */
const builtIn = 'terraform.io/builtin/terraform';
/** The format of states that both tools write. */
const knownFormat = 4;

/**
 * What a state needs of `init` beyond the providers of a lock file: the addresses of its other providers. The digest of the state stands for them if the
 * state does not show them. Null: nothing.
 */
export function findMissingProviders(state: Buffer | null, lock: Buffer | null): string[] | null {
  if (state === null) return null;
  const named = providersOf(state);
  if (named === null) return [sha256(state)];
  const locked = new Set([...(lock?.toString().matchAll(/^\s*provider\s+"([^"]+)"/gm) ?? [])].map(([, name]) => name));
  const missing = [...named].filter((name) => name !== builtIn && !locked.has(name)).sort();
  return missing.length === 0 ? null : missing;
}

/** The addresses of the providers of a state; null if it does not show them, as an encrypted one. */
function providersOf(content: Buffer): Set<string> | null {
  const state = parseJson(content);
  if (!isObject(state) || state['version'] !== knownFormat || state['encrypted_data'] !== undefined) return null;
  const found = asArray(state['resources']).map((resource) =>
    isObject(resource) ? /\bprovider\["([^"]+)"\]/.exec(String(resource['provider']))?.[1] : undefined,
  );
  return found.some((name) => name === undefined) ? null : new Set(found.flatMap((name) => name ?? []));
}

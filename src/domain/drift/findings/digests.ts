import { canonicalJson } from '#domain/shared/commands/canonical.ts';
import { digestOf } from '#domain/shared/values/digest.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';

/** What makes two deviations of a monitor the same finding. Both texts may be longer than an index takes. */
export function identityOf({ address, path }: { readonly address: string; readonly path: string }): string {
  return digestOf(Buffer.from(canonicalJson([address, path])));
}

interface Observed {
  readonly after: JsonValue;
  readonly action: string;
  /** Tells secret values from each other, which look the same. */
  readonly secretDigest?: string | null;
}

/** What was observed: two scans that observe the same have the same digest, and another secret value has another one. */
export function observedDigestOf({ after, action, secretDigest = null }: Observed): string {
  const kind = action === 'update' || action === 'replace' ? '' : action;
  return digestOf(Buffer.from(canonicalJson([kind, after, ...(secretDigest === null ? [] : [secretDigest])])));
}

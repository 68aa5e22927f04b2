import type { Expectation } from '#domain/runs/plans/model.ts';
import { canonicalJson } from '#domain/shared/commands/canonical.ts';
import { digestOf } from '#domain/shared/values/digest.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';

/** Two deviations of a monitor with the same identity are the same finding. A digest, because both texts may be longer than an index takes. */
export function identityOf({ address, path }: { readonly address: string; readonly path: string }): string {
  return digestOf(Buffer.from(canonicalJson([address, path])));
}

interface Observed {
  readonly after: JsonValue;
  readonly action: string;
  /** Differs between two secret values, which are both shown masked. */
  readonly secretDigest?: string | null;
  readonly expectation?: Expectation | undefined;
}

/**
 * Names an observed value: the same value has the same digest in every scan, and another secret value has another digest. Where a scan does not know which value
 * it expects, all values have the same digest: each apply makes another one, and nobody changed it.
 */
export function observedDigestOf({ after, action, secretDigest = null, expectation }: Observed): string {
  if (expectation) return digestOf(Buffer.from(canonicalJson(['unknown'])));
  const kind = action === 'update' || action === 'replace' ? '' : action;
  return digestOf(Buffer.from(canonicalJson([kind, after, ...(secretDigest === null ? [] : [secretDigest])])));
}

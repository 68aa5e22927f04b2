import type { Expectation } from '#domain/runs/plans/model.ts';
import { canonicalJson } from '#domain/shared/commands/canonical.ts';
import { digestOf } from '#domain/shared/values/digest.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';

/**
 * The identity of a finding: deviations of a monitor with the same identity are the same finding. It is a digest, because address and path
 * may be too long for an index.
 */
export function identityOf({ address, path }: { readonly address: string; readonly path: string }): string {
  return digestOf(Buffer.from(canonicalJson([address, path])));
}

interface Observed {
  readonly after: JsonValue;
  readonly action: string;
  /** Distinguishes two secret values, whose masks are equal. */
  readonly secretDigest?: string | null;
  readonly expectation?: Expectation | undefined;
}

/**
 * The digest of an observed value: equal values have equal digests in every scan, and different secret values have different digests. If a
 * scan does not know which value it expects, all values have the same digest, because each apply makes a new value and nobody changed it.
 */
export function observedDigestOf({ after, action, secretDigest = null, expectation }: Observed): string {
  if (expectation) return digestOf(Buffer.from(canonicalJson(['unknown'])));
  const kind = action === 'update' || action === 'replace' ? '' : action;
  return digestOf(Buffer.from(canonicalJson([kind, after, ...(secretDigest === null ? [] : [secretDigest])])));
}

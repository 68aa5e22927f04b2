import { canonicalJson } from '#domain/shared/commands/canonical.ts';
import { digestOf } from '#domain/shared/values/digest.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';

/** What makes two deviations of a monitor the same finding. Both texts may be longer than an index takes. */
export function identityOf({ address, path }: { readonly address: string; readonly path: string }): string {
  return digestOf(Buffer.from(canonicalJson([address, path])));
}

/**
 * What was observed: two scans that observe the same have the same digest. Secrets are redacted before the service stores a plan, so all values of a
 * secret are the same here.
 */
export function observedDigestOf({ after, action }: { readonly after: JsonValue; readonly action: string }): string {
  return digestOf(Buffer.from(canonicalJson([action === 'update' || action === 'replace' ? '' : action, after])));
}

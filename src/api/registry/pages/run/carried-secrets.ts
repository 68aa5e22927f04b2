import type { ObjectNode } from '#api/web/forms/schema/plan/node.ts';
import { mapSecrets, type SecretText, secretsIn } from '#api/web/forms/schema/secrets.ts';
import { slots } from '#api/web/forms/schema/slots.ts';
import type { VariablesEntry } from '#api/web/forms/schema/variables.ts';
import { type KeyRing, type SealContext, SealUnopened } from '#domain/shared/secrets.ts';

/**
 * Secrets that were typed into a form that is shown again. A page never shows them, so the form carries them along sealed: only the service opens them, for the
 * same visitor and the same form, and not for long.
 */

const keptForMs = 60 * 60_000;

interface Carried {
  readonly at: number;
  /** By their slots. */
  readonly secrets: Readonly<Record<string, SecretText>>;
}

/** Whose form it is. */
export interface CarriedBy {
  readonly principalId: string;
  /** The id of the template or the assembly that it runs. */
  readonly subjectId: string;
  /** The idempotency key of the form. */
  readonly key: string;
}

const contextOf = ({ principalId, subjectId, key }: CarriedBy): SealContext => [
  'entered-secrets',
  principalId,
  subjectId,
  key,
];

/** Seals the secrets that are entered; empty if none is. */
export function sealSecrets(keyRing: KeyRing, by: CarriedBy, root: ObjectNode, entry: VariablesEntry): string {
  const secrets = secretsIn(root, entry);
  if (secrets.size === 0) return '';
  const carried: Carried = { at: Date.now(), secrets: Object.fromEntries(secrets) };
  return keyRing.sealJson(contextOf(by), carried).toString('base64url');
}

/** What a form was sent with. */
interface Sent {
  readonly entry: VariablesEntry;
  /** The secrets of the form before, sealed. */
  readonly carried: string;
  /** The variables whose deployed secrets are not taken over. What was entered for them before is given up, too. */
  readonly omitted?: readonly string[];
}

/** What was entered, with the carried secrets in the fields that were left empty; null: they are not those of this form, or have expired. */
export function addCarried(
  keyRing: KeyRing,
  by: CarriedBy,
  root: ObjectNode,
  { entry, carried, omitted = [] }: Sent,
): VariablesEntry | null {
  if (carried === '') return entry;
  const kept = openCarried(keyRing, by, carried);
  if (!kept) return null;
  const isOmitted = (slot: string) => omitted.some((name) => `${slot}/`.startsWith(`${slots.member('', name)}/`));
  return mapSecrets(root, entry, (text, slot) => {
    const before = kept.get(slot);
    return text.text === '' && before?.kind === text.kind && !isOmitted(slot) ? before : text;
  });
}

function openCarried(keyRing: KeyRing, by: CarriedBy, carried: string): Map<string, SecretText> | null {
  try {
    const { at, secrets } = keyRing.openJson<Carried>(contextOf(by), Buffer.from(carried, 'base64url'));
    return Date.now() - at <= keptForMs ? new Map(Object.entries(secrets)) : null;
  } catch (error) {
    if (error instanceof SealUnopened) return null;
    throw error;
  }
}
